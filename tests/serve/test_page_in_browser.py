"""The page at `/`, in a real browser: typing, sliding, and reading what is shown."""

import shutil
import time

import pytest
from gated_stage import gated
from loopback import PATIENCE, serving, wait_until
from playwright.sync_api import expect, sync_playwright

from cascada import Ranker
from cascada.search import Asker, Index, retriever_of
from cascada.serve import Keys, Settings

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")


@pytest.fixture(scope="module")
def browser():
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=PATIENCE * 1000)
        yield browser
        browser.close()


def elsewhere(url):
    return not url.startswith(("http://127.0.0.1:", "data:"))


@pytest.fixture
def page(browser):
    """A page of a fresh profile; anything wrong in its script, or fetched from elsewhere, fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: elsewhere(request.url) and wrong.append(request.url))
    yield page
    context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def served(cascade_folder, tmp_path_factory, words):
    """A cascade with an index of one document."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "notes.txt").write_text(f"{words[0].title()} {words[1]}. {words[2].title()} {words[3]}.")
    Index(folder / "index", create=True).update([folder / "notes.txt"])
    ranker = Ranker.load(cascade_folder)
    asker = Asker(retriever_of([], index=folder / "index"), ranker)
    with serving(ranker, Settings(model="ct"), asker=asker) as http:
        yield http, ranker


@pytest.fixture(scope="module")
def texts(words):
    return [" ".join(words[i : i + 1 + i % 6]) for i in range(20)]


def fill(page, question, texts):
    page.fill("#question", question)
    page.fill("#candidates", "\n".join(texts))


def shown(page):
    """The texts of the bars, from the top."""
    return page.locator(".bar .text").all_inner_texts()


def test_what_is_typed_is_ranked_and_drawn(page, served, words, texts):
    http, ranker = served
    page.goto(str(http.base_url))
    expect(page.locator("#model")).to_have_text("ct, exits after layers 2, 4")
    fill(page, words[5], texts)
    page.click("#go")
    expect(page.locator(".bar")).to_have_count(20)
    ranking = ranker.rank(words[5], texts)
    assert shown(page) == [item.text for item in ranking]
    assert page.locator(".bar .score").all_inner_texts() == [f"{item.score:.3f}" for item in ranking]
    assert page.locator("#facts b").all_inner_texts()[:2] == ["20", "0 %"]
    assert page.locator(".cell.fell").count() == 0


def test_the_slider_drops_candidates_where_it_says(page, served, words, texts):
    http, ranker = served
    page.goto(str(http.base_url))
    fill(page, words[5], texts)
    page.keyboard.press("Control+Enter")  # the cursor stands in the candidates
    expect(page.locator(".bar")).to_have_count(20)
    page.focus("#drop")
    for _ in range(11):  # from the model's own plan by steps of 5 %
        page.keyboard.press("ArrowRight")
    expect(page.locator("#dropped")).to_have_text("50 %")
    expect(page.locator(".cell.fell")).to_have_count(10)
    ranking = ranker.rank(words[5], texts, drop=0.5)
    assert shown(page) == [item.text for item in ranking]
    assert page.locator("#facts b").all_inner_texts()[1] == f"{round(100 * (1 - ranking.relative_cost))} %"
    lanes = page.locator("#exits .track > div").all_inner_texts()
    assert lanes[0].startswith("2\n20 in\n−10")
    assert lanes[1].startswith("4\n10 in")
    label = page.locator(".bar.out").first.get_attribute("aria-label")
    assert label.endswith("fell at layer 2")


def test_a_deadline_is_told_when_it_stopped_the_cascade(page):
    ranker, (first, _) = gated(2)
    with serving(ranker) as http:
        page.goto(str(http.base_url))
        fill(page, "q", ["a", "bbb", "cc"])
        page.fill("#deadline", "1")
        first.close()
        page.click("#go")
        wait_until(first.entered.is_set)
        time.sleep(0.002)  # the millisecond is over, however fast the machine
        first.gate.set()
        expect(page.locator("#message")).to_contain_text("The deadline stopped the cascade")
        assert shown(page) == ["bbb", "cc", "a"]


def test_the_documents_are_asked_and_the_answer_is_marked(page, served, words):
    http, _ = served
    page.goto(str(http.base_url))
    page.check("input[value=ask]")
    expect(page.locator("#candidates")).to_be_hidden()
    page.fill("#question", words[3])
    page.keyboard.press("Enter")
    expect(page.locator("#answers mark").first).to_be_visible()
    found = http.post("/v1/ask", json={"question": words[3], "top": 5}).json()["answers"]
    assert page.locator("#answers mark").all_inner_texts() == [one["text"] for one in found]
    assert page.locator("#answers li p:first-child").first.inner_text() == found[0]["passage"]["text"]
    expect(page.locator("#answers .where").first).to_contain_text("notes.txt")


def test_a_key_is_asked_for_where_one_is_needed(page):
    with serving(Ranker.load("bm25"), Settings(keys=Keys.of("sesame"))) as http:
        page.goto(str(http.base_url))
        page.click("#example")
        expect(page.locator("#message")).to_contain_text("The key is missing or wrong")
        page.fill("#key", "sesame")
        page.click("#go")
        expect(page.locator(".bar")).to_have_count(12)
        expect(page.locator("#message")).to_be_hidden()


def test_texts_are_never_read_as_html(page, bm25):
    page.goto(str(bm25.base_url))
    evil = "<img src=x onerror=document.title='evil'><b>hamlet</b>"
    fill(page, "hamlet", [evil, "rain"])
    page.click("#go")
    expect(page.locator(".bar .text").first).to_have_text(evil)
    assert page.title() == "Cascada"


def test_mistakes_are_told_in_words(page, bm25):
    page.goto(str(bm25.base_url))
    page.fill("#question", "who?")
    page.click("#go")
    expect(page.locator("#message")).to_have_text("Put in candidates, one a line.")
    fill(page, "q" * 3000, ["a"])
    page.click("#go")
    expect(page.locator("#message")).to_have_text("The question has 3,000 characters; the most that are read is 2,000.")


def test_it_fits_a_phone(page, served, words, texts):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(str(served[0].base_url))
    fill(page, words[5], [*texts, "x" * 400])
    page.click("#go")
    expect(page.locator(".bar")).to_have_count(21)
    page.locator(".bar").last.click()  # shows the whole text
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
