"""`questions: n` stands for all of the data, wherever a recipe says it: files are ordered by article."""

import json

import pytest

from cascada.core.errors import CascadaError
from cascada.reading.examples import marked_questions
from cascada.reading.settings import SpanSettings
from cascada.training.groups import measured_groups, training_groups
from cascada.training.settings import DataSettings

ARTICLES = 20


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    """Twenty articles, one after the other, of thirty questions each."""
    path = tmp_path_factory.mktemp("data") / "groups.jsonl"
    candidates = [{"text": "it is", "label": 1}, {"text": "it is not", "label": 0}]
    names = [(article, number) for article in range(ARTICLES) for number in range(30)]
    lines = [{"question": f"{article}: what is {number}?", "candidates": candidates} for article, number in names]
    path.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


@pytest.fixture(scope="module")
def squad(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "squad.json"
    articles = []
    for article in range(ARTICLES):
        answers = [{"text": "it", "answer_start": 0}]
        questions = [
            {"id": f"{article}-{number}", "question": f"{article}: what is {number}?", "answers": answers}
            for number in range(30)
        ]
        articles.append({"title": str(article), "paragraphs": [{"context": "it is", "qas": questions}]})
    path.write_text(json.dumps({"data": articles}))
    return str(path)


def articles(questions):
    return {question.question.split(":")[0] for question in questions}


@pytest.mark.parametrize("read", [training_groups, lambda settings: measured_groups(settings, "dev")])
def test_a_sample_of_groups_spans_the_articles(groups, read):
    drawn = read(DataSettings(source=groups, questions=60))
    assert len(drawn) == 60
    assert len(articles(drawn)) > ARTICLES * 3 / 4
    assert drawn == read(DataSettings(source=groups, questions=60))
    assert drawn != read(DataSettings(source=groups, questions=60, sample_seed=1))


def test_a_sample_of_a_readers_questions_spans_the_articles(squad):
    drawn = marked_questions(SpanSettings(source=squad, questions=60))
    assert len(drawn) == 60
    assert len(articles(drawn)) > ARTICLES * 3 / 4
    assert len(marked_questions(SpanSettings(source=squad))) == 600


def test_further_training_data_is_sampled_too(groups):
    drawn = training_groups(DataSettings(source=groups, questions=1, also=(DataSettings(source=groups, questions=40),)))
    assert len(drawn) == 41
    assert len(articles(drawn)) > ARTICLES / 2


def test_training_may_keep_the_first_incorrect_candidates_of_each_question(tmp_path):
    path = tmp_path / "lists.jsonl"
    candidates = [{"text": text, "label": int(text == "c")} for text in "abcde"]
    path.write_text(json.dumps({"question": "which?", "candidates": candidates}))
    kept = training_groups(DataSettings(source=str(path), wrong=3))[0]
    assert kept.texts == ("a", "b", "c", "d")
    with pytest.raises(CascadaError, match="dev: grades, wrong, noise and also are for training data only"):
        measured_groups(DataSettings(source=str(path), wrong=3), "dev")
