"""The model in the package: small, whole, and it answers."""

import json
from pathlib import Path

import pytest

import cascada
from cascada import Ranker
from cascada.search import Asker, retriever_of

FOLDER = Path(cascada.__file__).parent / "bundled" / "cascada-mini"
DOCUMENTS = Path(__file__).parents[2] / "examples" / "documents"


@pytest.fixture(scope="module")
def ranker():
    return Ranker.load()


@pytest.fixture(scope="module")
def asker(ranker):
    return Asker(retriever_of([DOCUMENTS]), ranker)


def test_it_has_a_cascades_exits_and_a_plan_of_its_own(ranker):
    assert ranker.exits == (4, 6, 8)
    plan = json.loads((FOLDER / "plan.json").read_text(encoding="utf-8"))
    assert plan["exits"] == [4, 6, 8]
    assert Ranker.load("cascada-mini").plan == ranker.plan


def test_it_is_at_most_30_megabytes():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 30_000_000


def test_meaning_counts_where_words_do_not_help(ranker):
    texts = [
        "The play Hamlet was performed at the Globe, and who wrote about it is not known.",
        "Shakespeare is the author of the tragedy of the prince of Denmark.",
        "The weather in Denmark is mild.",
    ]
    ranking = ranker.rank("Who wrote Hamlet?", texts)
    assert ranking[0].index == 1
    assert ranker.rank("How is the weather there?", texts)[0].index == 2


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
