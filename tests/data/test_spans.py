"""SQuAD's layout with the positions of answers is read and written."""

import json

import pytest

from cascada.core.errors import DataError
from cascada.data.spans import MarkedAnswer, read_paragraphs, write_paragraphs

CONTEXT = "The Rhine is long. It rises in the Alps."


def document(answers=({"text": "Alps", "answer_start": 35},), identifier="q1", **more):
    question = {"id": identifier, "question": "Where does the Rhine rise?", "answers": list(answers), **more}
    return {"data": [{"title": "The Rhine", "paragraphs": [{"context": CONTEXT, "qas": [question]}]}]}


def save(path, content):
    path.write_text(json.dumps(content))
    return path


def test_a_paragraph_has_its_title_text_and_questions(tmp_path):
    (paragraph,) = read_paragraphs(save(tmp_path / "a.json", document()))
    assert (paragraph.title, paragraph.text) == ("The_Rhine", CONTEXT)
    (question,) = paragraph.questions
    assert (question.id, question.answers) == ("q1", (MarkedAnswer("Alps", 35),))


def test_what_was_written_reads_the_same(tmp_path):
    content = document([{"text": "Alps", "answer_start": 35}, {"text": "the Alps", "answer_start": 31}])
    content["data"] += [{"title": "Volga", "paragraphs": [{"context": "It is longer.", "qas": []}] * 2}]
    found = read_paragraphs(save(tmp_path / "a.json", content))
    write_paragraphs(found, tmp_path / "b.json")
    assert read_paragraphs(tmp_path / "b.json") == found
    assert [len(one["paragraphs"]) for one in json.loads((tmp_path / "b.json").read_text())["data"]] == [1, 2]


def test_a_question_may_have_no_answer_as_in_squad_2(tmp_path):
    (paragraph,) = read_paragraphs(save(tmp_path / "a.json", document([], is_impossible=True)))
    assert paragraph.questions[0].answer_texts == ()


def test_an_answer_with_an_empty_text_marks_nothing(tmp_path):
    answers = [{"text": "", "answer_start": 0}, {"text": "Alps", "answer_start": 35}]
    (paragraph,) = read_paragraphs(save(tmp_path / "a.json", document(answers)))
    assert paragraph.questions[0].answers == (MarkedAnswer("Alps", 35),)


def test_questions_with_the_same_id_are_numbered(tmp_path):
    paragraphs = read_paragraphs(save(tmp_path / "a.json", {"data": document()["data"] * 3}))
    assert [question.id for paragraph in paragraphs for question in paragraph.questions] == ["q1", "q1-2", "q1-3"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (document([{"text": "Alps", "answer_start": 34}]), "paragraph 1: expected the answer 'Alps' at character 34"),
        (document([{"text": "Alps"}]), "expected the answer 'Alps' at character None"),
        (document(identifier=None), "expected an id for every question"),
        ({"data": []}, "has no questions"),
        ({"version": "1.1"}, 'expected a list of articles under "data"'),
        ([], "expected SQuAD data as a JSON object"),
    ],
)
def test_a_file_of_another_shape_is_rejected_with_its_place(tmp_path, content, sentence):
    with pytest.raises(DataError, match=sentence):
        read_paragraphs(save(tmp_path / "a.json", content))
