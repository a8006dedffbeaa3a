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
def served(cascade_folder):
    """A cascade without an index."""
    ranker = Ranker.load(cascade_folder)
    with serving(ranker, ServerSettings(model="ct")) as http:
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


def test_a_stage_without_layers_is_named_by_what_it_is(page):
    with serving(Ranker.load("bm25+cascada-mini")) as http:
        page.goto(str(http.base_url))
        fill(page, "who wrote hamlet?", ["It rained.", "Shakespeare wrote Hamlet.", "Hamlet is a play."])
        page.evaluate("document.getElementById('drop').value = 50")
        page.click("#go")
        expect(page.locator(".bar")).to_have_count(3)
        assert page.locator("#exits b").all_inner_texts() == ["start", "exit 0", "12"]
        labels = [bar.get_attribute("aria-label") for bar in page.locator(".bar.out").all()]
        assert [label.partition(", ")[2] for label in labels] == ["dropped at exit 0", "dropped at start"]


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


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The bundled model with an index of two documents of the same name; one has two answers in a paragraph."""
    folder = tmp_path_factory.mktemp("library")
    texts = {
        "towers": "Towers\n\nThe Eiffel Tower was completed in 1889. The Eiffel Tower was painted brown."
        "\n\nThe tower of Pisa leans.",
        "cakes": "A cake like the Eiffel Tower was baked. It was sweet.",
    }
    for name, text in texts.items():
        (folder / name).mkdir()
        (folder / name / "notes.txt").write_text(text)
    Index(folder / "index", create=True).update([folder / name for name in texts])
    ranker = Ranker.load()
    asker = Asker(retriever_of([], index=folder / "index"), ranker)
    with serving(ranker, asker=asker) as http:
        yield http


ASKED = "When was the Eiffel Tower completed?"


def ask(page, http):
    page.goto(str(http.base_url))
    page.check("input[value=ask]")
    expect(page.locator("#candidates")).to_be_hidden()
    page.fill("#question", ASKED)
    page.keyboard.press("Enter")
    expect(page.locator("#answers mark").first).to_be_visible()
    return http.post("/v1/ask", json={"question": ASKED, "top": 5}).json()["answers"]


def test_a_paragraph_is_shown_once_with_all_of_its_answers(page, library):
    answers = ask(page, library)
    paragraphs = {(answer["document"], answer["passage"]["start"]): answer["passage"]["text"] for answer in answers}
    assert len(paragraphs) < len(answers)
    assert page.locator("#answers .passage").all_text_contents() == list(paragraphs.values())
    assert sorted(page.locator("#answers mark").all_text_contents()) == sorted(answer["text"] for answer in answers)
    assert "1889" in page.locator("mark[data-place='1']").text_content()
    assert page.locator("#answers .score[data-place='1']").inner_text() == f"{answers[0]['score']:.3f}"


def test_a_weak_answer_is_drawn_weakly(page, library):
    answers = ask(page, library)
    strength = "mark => mark.style.getPropertyValue('--strength')"
    marks = [page.locator(f"mark[data-place='{place}']") for place in range(1, len(answers) + 1)]
    assert [mark.evaluate(strength) for mark in marks] == [f"{round(15 + 85 * one['score'])}%" for one in answers]
    weak = [answer for answer in answers if answer["score"] < 0.5]
    assert 0 < len(weak) == page.locator("mark.weak").count() < len(answers)


def test_documents_are_named_without_the_servers_folders_and_open_at_the_answer(page, library):
    answers = ask(page, library)
    links = page.locator("#answers .link")
    assert links.first.inner_text() == "towers/notes.txt, line 3"
    assert answers[0]["document"].rpartition("/towers")[0] not in page.content()
    links.first.click()
    dialog = page.locator("#document")
    expect(dialog).to_be_visible()
    expect(dialog.locator("mark")).to_have_text("The Eiffel Tower was completed in 1889.")
    expect(dialog.locator("mark")).to_be_in_viewport()
    assert dialog.locator(".passage").last.inner_text() == "The tower of Pisa leans."
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


PASSAGES = [
    "The Eiffel Tower is in Paris. It was completed in 1889. The city has many bakeries.",
    "Beat the eggs with sugar.\nBake it for half an hour.",
]


def prune(page, http):
    page.goto(str(http.base_url))
    page.check("input[value=prune]")
    fill(page, ASKED, ["\n\n".join(PASSAGES)])
    page.click("#go")
    expect(page.locator("#pruned li")).to_have_count(2)


def test_passages_are_pruned_with_the_winning_sentence_highlighted(page, library):
    prune(page, library)
    body = {"question": ASKED, "passages": PASSAGES, "min_relative_score": 0.4}
    pruned = library.post("/v1/prune", json=body).json()
    assert page.locator("#pruned mark").all_text_contents() == ["It was completed in 1889."]
    assert page.locator("#pruned .passage").all_text_contents() == PASSAGES
    assert page.locator("#pruned .left").all_text_contents() == [pruned["passages"][0]["text"], "nothing is kept"]
    cut = [one["text"] for passage in pruned["passages"] for one in passage["sentences"] if not one["kept"]]
    assert page.locator("#pruned .cut").all_text_contents() == cut
    assert page.locator("#facts b").first.inner_text() == f"{round(100 * pruned['share_cut'])} %"


def test_the_slider_and_the_budget_decide_what_is_kept(page, library):
    prune(page, library)
    page.focus("#relative")
    page.keyboard.press("Home")
    expect(page.locator("#share")).to_have_text("0 % of the best score")
    expect(page.locator("#pruned .cut")).to_have_count(0)
    page.fill("#budget", "7")
    page.click("#go")
    expect(page.locator("#pruned .left").first).to_have_text("It was completed in 1889.")


def test_passages_and_documents_fit_a_phone(page, library):
    page.set_viewport_size({"width": 360, "height": 740})
    prune(page, library)
    passage, left = page.locator("#pruned li").first.locator("p").all()
    assert left.bounding_box()["y"] >= passage.bounding_box()["y"] + passage.bounding_box()["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    ask(page, library)
    figures = [fact.bounding_box()["y"] for fact in page.locator("#facts b").all()]
    assert len(set(figures)) == 1
    page.locator("#answers .link").first.click()
    expect(page.locator("#document")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


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


def test_the_figures_of_a_ranking_stand_in_one_row_on_a_phone(page, served, words, texts):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(str(served[0].base_url))
    fill(page, words[5], texts)
    page.click("#go")
    expect(page.locator("#facts b")).to_have_count(4)
    assert len({fact.bounding_box()["y"] for fact in page.locator("#facts b").all()}) == 1


def test_it_fits_a_phone(page, served, words, texts):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(str(served[0].base_url))
    fill(page, words[5], [*texts, "x" * 400])
    page.click("#go")
    expect(page.locator(".bar")).to_have_count(21)
    page.locator(".bar").last.click()  # shows the whole text
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
