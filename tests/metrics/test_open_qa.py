"""P@N, PBT@N and PTB@N: worked by hand, and against the paper's sentences written out word for word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.core.errors import CascadaError
from cascada.metrics import open_qa_scores

DOCUMENTS = list("abcdef")
lists = st.permutations(DOCUMENTS).flatmap(lambda order: st.integers(0, len(order)).map(lambda cut: order[:cut]))
questions = st.lists(st.tuples(lists, lists, st.sets(st.sampled_from(DOCUMENTS))), min_size=1, max_size=5)


def slow(ranked, first_stage, holding, n):
    """One question at a time, as the paper puts it: for how many is there a document such that …"""
    ours, theirs = ranked[:n], first_stage[:n]
    return (
        any(document in holding for document in ours),
        any(document in holding and document not in theirs for document in ours),
        any(document in holding and document not in ours for document in theirs),
    )


def test_three_questions_worked_by_hand():
    first_stage = {"q1": ["a", "b", "c", "d"], "q2": ["a", "b", "c", "d"], "q3": ["a", "b", "c", "d"]}
    ranked = {"q1": ["c", "a", "b", "d"], "q2": ["c", "d", "a", "b"], "q3": ["b", "a", "c", "d"]}
    holding = {"q1": {"c"}, "q2": {"b"}, "q3": {"a"}}
    # q1: c is in our first two and not in theirs. q2: b is lost, nothing is found. q3: a is in both.
    assert open_qa_scores(ranked, first_stage, holding, n=2) == pytest.approx(
        {"P@2": 2 / 3, "PBT@2": 1 / 3, "PTB@2": 1 / 3}
    )


def test_one_question_can_be_found_beyond_and_lost_at_once():
    found = open_qa_scores({"q": ["b"]}, {"q": ["a", "b"]}, {"q": {"a", "b"}}, n=1)
    assert found == {"P@1": 1.0, "PBT@1": 1.0, "PTB@1": 1.0}


def test_a_reranker_that_changes_nothing_is_neither_beyond_nor_short_of_the_first_stage():
    order = {"q": ["a", "b", "c"]}
    assert open_qa_scores(order, order, {"q": {"b"}}, n=2) == {"P@2": 1.0, "PBT@2": 0.0, "PTB@2": 0.0}


def test_a_question_that_was_not_ranked_or_has_no_document_counts_as_not_found():
    assert open_qa_scores({}, {"q": ["a"]}, {"q": {"a"}, "r": set()}, n=5) == {"P@5": 0.0, "PBT@5": 0.0, "PTB@5": 0.5}


@given(questions, st.integers(1, 7))
def test_it_is_what_the_paper_says(asked, n):
    ranked = {str(i): one for i, (one, _, _) in enumerate(asked)}
    first_stage = {str(i): one for i, (_, one, _) in enumerate(asked)}
    holding = {str(i): one for i, (_, _, one) in enumerate(asked)}
    expected = [sum(values) / len(asked) for values in zip(*(slow(*one, n) for one in asked), strict=True)]
    assert list(open_qa_scores(ranked, first_stage, holding, n).values()) == pytest.approx(expected)


@pytest.mark.parametrize("n", [0, -1, True, 2.0, "10"])
def test_n_is_a_whole_number_from_one(n):
    with pytest.raises(CascadaError, match="it must be a whole number from 1"):
        open_qa_scores({}, {}, {"q": {"a"}}, n=n)


def test_nothing_to_measure_is_said():
    with pytest.raises(CascadaError, match="no question"):
        open_qa_scores({"q": ["a"]}, {"q": ["a"]}, {})
