"""The web page at `/`, in a real browser."""

import shutil
import time

import pytest
from gated_stage import gated
from loopback import TIMEOUT, serving, wait_until
from playwright.sync_api import expect, sync_playwright

from cascada import Ranker
from cascada.search import Asker, Index, retriever_of
from cascada.serve import ApiKeys, ServerSettings

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def browser():
    expect.set_options(timeout=TIMEOUT * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=TIMEOUT * 1000)
        yield browser
        browser.close()


def elsewhere(url):
    return not url.startswith(("http://127.0.0.1:", "data:"))


@pytest.fixture
def page(browser):
    """A page with a fresh profile; an error in its script, or a request to another host, fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.set_default_timeout(TIMEOUT * 1000)
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: elsewhere(request.url) and problems.append(request.url))
    yield page
    context.close()
    assert problems == []


@pytest.fixture(scope="module")
def served(cascade_folder, tmp_path_factory, words):
    """A cascade with an index of one document."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "notes.txt").write_text(f"{words[0].title()} {words[1]}. {words[2].title()} {words[3]}.")
    Index(folder / "index", create=True).update([folder / "notes.txt"])
    ranker = Ranker.load(cascade_folder)
    asker = Asker(retriever_of([], index=folder / "index"), ranker)
    with serving(ranker, ServerSettings(model="ct"), asker=asker) as http:
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
    assert page.locator(".cell.dropped").count() == 0


def test_the_slider_drops_candidates_where_it_says(page, served, words, texts):
    http, ranker = served
    page.goto(str(http.base_url))
    fill(page, words[5], texts)
    page.keyboard.press("Control+Enter")  # the cursor is in the candidates
    expect(page.locator(".bar")).to_have_count(20)
    page.focus("#drop")
    for _ in range(11):  # from the model's own plan in steps of 5 %
        page.keyboard.press("ArrowRight")
    expect(page.locator("#dropped")).to_have_text("50 %")
    expect(page.locator(".cell.dropped")).to_have_count(10)
    ranking = ranker.rank(words[5], texts, drop=0.5)
    assert shown(page) == [item.text for item in ranking]
    assert page.locator("#facts b").all_inner_texts()[1] == f"{round(100 * (1 - ranking.relative_cost))} %"
    lanes = page.locator("#exits .track > div").all_inner_texts()
    assert lanes[0].startswith("2\n20 in\n−10")
    assert lanes[1].startswith("4\n10 in")
    label = page.locator(".bar.out").first.get_attribute("aria-label")
    assert label.endswith("dropped at layer 2")


def test_a_message_says_that_the_deadline_stopped_the_cascade(page):
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


def test_the_documents_can_be_asked_and_answers_are_highlighted(page, served, words):
    http, _ = served
    page.goto(str(http.base_url))
    page.check("input[value=ask]")
    expect(page.locator("#candidates")).to_be_hidden()
    page.fill("#question", words[3])
    page.keyboard.press("Enter")
    expect(page.locator("#answers mark").first).to_be_visible()
    answers = http.post("/v1/ask", json={"question": words[3], "top": 5}).json()["answers"]
    assert page.locator("#answers mark").all_inner_texts() == [answer["text"] for answer in answers]
    assert page.locator("#answers li p:first-child").first.inner_text() == answers[0]["passage"]["text"]
    expect(page.locator("#answers .where").first).to_contain_text("notes.txt")


def test_the_page_asks_for_a_key_where_one_is_required(page):
    with serving(Ranker.load("bm25"), ServerSettings(keys=ApiKeys.of("sesame"))) as http:
        page.goto(str(http.base_url))
        page.click("#example")
        expect(page.locator("#message")).to_contain_text("The key is missing or wrong")
        page.fill("#key", "sesame")
        page.click("#go")
        expect(page.locator(".bar")).to_have_count(12)
        expect(page.locator("#message")).to_be_hidden()


def test_texts_are_never_inserted_as_html(page, bm25):
    page.goto(str(bm25.base_url))
    evil = "<img src=x onerror=document.title='evil'><b>hamlet</b>"
    fill(page, "hamlet", [evil, "rain"])
    page.click("#go")
    expect(page.locator(".bar .text").first).to_have_text(evil)
    assert page.title() == "Cascada"


def test_mistakes_are_shown_as_sentences(page, bm25):
    page.goto(str(bm25.base_url))
    page.fill("#question", "who?")
    page.click("#go")
    expect(page.locator("#message")).to_have_text("Enter candidates, one per line.")
    fill(page, "q" * 3000, ["a"])
    page.click("#go")
    expect(page.locator("#message")).to_have_text("The question has 3,000 characters; the limit is 2,000.")


def test_it_fits_a_phone(page, served, words, texts):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(str(served[0].base_url))
    fill(page, words[5], [*texts, "x" * 400])
    page.click("#go")
    expect(page.locator(".bar")).to_have_count(21)
    page.locator(".bar").last.click()  # shows the whole text
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
