"""Graded relevance in our own files: read, kept, and turned into labels by a threshold."""

import pytest

from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group, read, write_jsonl
from cascada.data.relevance import judged, threshold_of, thresholded


def graded(*pairs):
    return [
        Group("q", tuple(Candidate("t", label, f"d{n}", relevance=grade) for n, (grade, label) in enumerate(pairs)))
    ]


def test_labels_up_to_three_are_a_relevance(tmp_path):
    (tmp_path / "a.csv").write_text("query,passage,relevance\n" + "".join(f"who?,t{n},{n}\n" for n in range(4)))
    (group,) = read(tmp_path / "a.csv")
    assert [(one.label, one.gain) for one in group.candidates] == [(0, 0), (1, 1), (1, 2), (1, 3)]
    write_jsonl([group], tmp_path / "a.jsonl")
    assert list(read(tmp_path / "a.jsonl")) == [group]


def test_the_threshold_is_what_the_labels_say():
    assert threshold_of([Group("q", (Candidate("a", 1), Candidate("b", 0)))]) == 1
    assert threshold_of(graded((0, 0), (1, 0), (2, 1), (3, 1))) == 2
    with pytest.raises(CascadaError, match="relevance 2 is labelled incorrect and one of relevance 1 correct"):
        threshold_of(graded((1, 1), (2, 0)))


def test_a_threshold_makes_labels():
    assert thresholded(graded((0, 0), (1, 1), (2, 1)), 2)[0].labels == (0, 0, 1)


def test_judgements_for_other_ids_are_refused():
    with pytest.raises(CascadaError, match=r"Not one candidate is judged: .*q1 d0.*q1 other"):
        judged([Group("q", (Candidate("a", id="d0"),), "q1")], {"q1": {"other": 1}}, 1)
