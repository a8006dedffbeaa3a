"""The model in the package: small, whole, and it answers."""

import json
from pathlib import Path

import pytest

import cascada
from cascada import Ranker
from cascada.search import Asker, retriever_of
from cascada.store import fill, store_for
from cascada.systems.decoupled.engine import document_encoder

FOLDER = Path(cascada.__file__).parent / "bundled" / "cascada-mini"
DOCUMENTS = Path(__file__).parents[2] / "examples" / "documents"


@pytest.fixture(scope="module")
def ranker():
    return Ranker.load()


@pytest.fixture(scope="module")
def asker(ranker):
    return Asker(retriever_of([DOCUMENTS]), ranker)


def test_it_has_exit_0_and_a_plan_that_leaves_short_lists_alone(ranker):
    assert ranker.exits == (0, 12)
    plan = json.loads((FOLDER / "plan.json").read_text(encoding="utf-8"))
    assert plan["exits"] == [0, 12]
    assert Ranker.load("cascada-mini").plan == ranker.plan
    texts = [f"Sentence {number} is about something." for number in range(400)]
    assert [stage.candidates for stage in ranker.rank("What is it about?", texts[:60]).stages] == [60, 60]
    assert [stage.candidates for stage in ranker.rank("What is it about?", texts[:100]).stages] == [100, 60]
    assert [stage.candidates for stage in ranker.rank("What is it about?", texts).stages] == [400, 60]


def test_it_is_at_most_36_megabytes_and_reads_256_tokens():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 36_000_000
    assert json.loads((FOLDER / "cascada.json").read_text(encoding="utf-8"))["max_length"] == 256


def test_its_vocabulary_is_the_whole_vocabulary_of_its_encoder():
    tokenizer = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    assert sorted(tokenizer["model"]["vocab"].values()) == list(range(30522))


def test_a_title_says_what_a_sentence_is_about(ranker):
    question, text = "Who built the lighthouse of Cape Arkona?", "It was built by the engineer Ada Lovelace."
    titles = ("The lighthouse of Cape Arkona", "The railway station of Rubjerg")
    right, wrong = ranker.score(question, [{"text": text, "context": title} for title in titles])
    assert right > ranker.score(question, [text])[0] > wrong


def test_documents_can_be_encoded_before_they_are_ranked(tmp_path):
    encoder = document_encoder(FOLDER)
    texts = ["Tesla died in 1943.", "Bread is baked in an oven.", "The oven is hot."]
    store = store_for(encoder, tmp_path / "store")
    fill(store, encoder, texts)
    stored = Ranker.load(store=store)
    assert stored.exits == (12,)
    assert stored.score("When did Tesla die?", texts) == pytest.approx(
        Ranker.load().score("When did Tesla die?", texts), abs=0.02
    )


def test_meaning_counts_where_words_do_not_help(ranker):
    texts = [
        "Hamlet is performed at the Globe every summer.",
        "Shakespeare is the author of the tragedy of the prince of Denmark.",
        "The weather in Denmark is mild.",
    ]
    assert ranker.rank("What is the climate like there?", texts)[0].index == 2
    assert ranker.rank("By whom was the play about the Danish prince written?", texts)[0].index == 1


def test_a_sentence_that_answers_nothing_is_unlikely(ranker):
    scores = ranker.score("When did Tesla die?", ["Tesla died in 1943.", "Bread is baked in an oven."])
    assert scores[0] > 0.5
    assert scores[1] < 0.1


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was Warsaw's first stock exchange established?", "1817"),
        ("Which chemist made enough liquid oxygen to study it?", "James Dewar"),
        ("Why was Polonia relegated in 2013?", "disastrous financial situation"),
        ("Who kidnapped Temüjin's wife?", "the Merkits"),
        ("What year did Tesla die?", "1943"),
    ],
)
def test_it_answers_from_the_example_documents(asker, question, answer):
    found = asker.ask(question)
    assert answer in found[0].text
    assert found.likely


def test_it_says_so_when_nothing_is_an_answer(asker):
    assert asker.ask("What is the capital of Australia?").likely is False
