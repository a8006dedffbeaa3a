"""Questions without labels: candidate lists as they come, or from a corpus by BM25."""

import json

import pytest

from cascada.acceleration.lists import read_questions, require_lists, retrieved, usable
from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group


def group(question, *texts, id=None):
    return Group(question, tuple(Candidate(text) for text in texts), id)


def test_short_and_repeated_lists_are_left_out_and_counted():
    lists = usable([group("a?", "x", "y"), group("b?", "x"), group("a?", "x", "y"), group("a?", "x", "z")])
    assert [(g.question, g.texts) for g in lists.groups] == [("a?", ("x", "y")), ("a?", ("x", "z"))]
    assert (lists.short, lists.repeated, lists.pairs) == (1, 1, 4)
    assert lists.texts == ["x", "y", "z"]


def test_without_any_list_the_error_names_the_corpus_option():
    with pytest.raises(CascadaError, match=r"No question has two candidates or more.*--corpus"):
        usable([group("a?", "x"), group("b?")])


def test_two_questions_with_one_id_are_an_error():
    with pytest.raises(CascadaError, match=r"has the id '7' of an earlier question"):
        usable([group("a?", "x", "y", id="7"), group("b?", "x", "y", id="7")])


def test_bm25_lists_the_best_texts_of_the_corpus_first():
    corpus = ["Warsaw is on the Vistula.", "It rained.", "Warsaw is the capital of Poland.", "It rained.", " "]
    (listed,) = retrieved([group("what is the capital of Poland?")], corpus, candidates=2)
    assert listed.texts == ("Warsaw is the capital of Poland.", "Warsaw is on the Vistula.")


def test_questions_are_read_from_lines_and_from_jsonl(tmp_path):
    (tmp_path / "q.txt").write_text("who?\n\n why?\n")
    assert [g.question for g in read_questions(tmp_path / "q.txt")] == ["who?", "why?"]
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": 3, "question": "who?"}) + "\n")
    assert [(g.id, g.question) for g in read_questions(tmp_path / "q.jsonl")] == [("3", "who?")]


@pytest.mark.parametrize(("name", "content"), [("q.txt", "who?\n"), ("q.jsonl", '{"question": "who?"}\n')])
def test_questions_without_lists_are_rejected_before_anything_runs(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(CascadaError, match=r"questions without candidates.*--corpus FILE"):
        require_lists(tmp_path / name)
