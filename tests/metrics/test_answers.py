"""Exact match, F1, P@N, PBT@N and PTB@N: worked by hand, and against slow references."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.core.errors import CascadaError
from cascada.metrics import answer_scores, exact_match, f1, open_qa_scores
from cascada.metrics.answers import normalised

WORDS = ["the", "a", "an", "The", "rhine", "Rhine", "(Rhine)", "river", "1066", "7.5", "U.S.", "co-op", "—", "'s", ""]
answers = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


def slow_words(answer):
    """Letter by letter."""
    kept = "".join(sign for sign in answer.lower() if sign not in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    return [word for word in re.split(r"\s+", kept) if word and word not in ("a", "an", "the")]


def slow_f1(answer, correct):
    left, right = slow_words(answer), slow_words(correct)
    if not left or not right:
        return float(left == right)
    rest, shared = list(right), 0
    for word in left:
        if word in rest:
            rest.remove(word)
            shared += 1
    if not shared:
        return 0.0
    precision, recall = shared / len(left), shared / len(right)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("answer", "same"),
    [
        ("The Normans", "normans"),
        ("  a  Viking's  ", "vikings"),
        ("$1.2 million", "12 million"),
        ("theatre and an anthem", "theatre and anthem"),
        ("The", ""),
        ("Ünïcode — dash", "ünïcode — dash"),  # only ASCII punctuation goes
    ],
)
def test_what_is_compared(answer, same):
    assert normalised(answer) == same


def test_the_best_of_several_answers_counts():
    correct = ["the Rhine", "Rhine river in Germany"]
    assert exact_match("Rhine", correct) == 1.0
    assert exact_match("Rhine river", correct) == 0.0
    assert f1("Rhine river", correct) == pytest.approx(2 / 3)  # ⅔ with the first, 2·2/(2+4) with the second
    assert f1("Danube", correct) == 0.0


def test_a_word_counts_as_often_as_both_have_it():
    assert f1("new york new york", ["new york"]) == pytest.approx(2 * 2 / (4 + 2))


def test_no_answer_is_right_where_there_is_none():
    assert (exact_match("", []), f1("", [])) == (1.0, 1.0)
    assert (exact_match("Rhine", []), f1("Rhine", [])) == (0.0, 0.0)
    assert (exact_match("", ["Rhine"]), f1("", ["Rhine"])) == (0.0, 0.0)


@given(answers, st.lists(answers, min_size=1, max_size=3))
def test_it_is_precision_and_recall_of_the_words(answer, correct):
    assert f1(answer, correct) == pytest.approx(max(slow_f1(answer, one) for one in correct))
    assert exact_match(answer, correct) == float(any(slow_words(answer) == slow_words(one) for one in correct))


def test_means_are_over_all_questions_also_those_that_were_not_answered():
    found = answer_scores({"q1": "the Rhine", "other": "x"}, {"q1": ["Rhine"], "q2": ["Danube"], "q3": ["Rhine delta"]})
    assert found == pytest.approx({"EM": 1 / 3, "F1": 1 / 3})


def test_exact_match_needs_a_question():
    with pytest.raises(CascadaError, match="no question"):
        answer_scores({}, {})


DOCUMENTS = list("abcdef")
lists = st.permutations(DOCUMENTS).flatmap(lambda order: st.integers(0, len(order)).map(lambda cut: order[:cut]))
questions = st.lists(st.tuples(lists, lists, st.sets(st.sampled_from(DOCUMENTS))), min_size=1, max_size=5)


def slow_open_qa(ranked, first_stage, holding, n):
    """One question at a time, as the paper puts it: for how many is there a document such that …"""
    best, first = ranked[:n], first_stage[:n]
    return (
        any(document in holding for document in best),
        any(document in holding and document not in first for document in best),
        any(document in holding and document not in best for document in first),
    )


def test_three_questions_worked_by_hand():
    first_stage = {"q1": ["a", "b", "c", "d"], "q2": ["a", "b", "c", "d"], "q3": ["a", "b", "c", "d"]}
    ranked = {"q1": ["c", "a", "b", "d"], "q2": ["c", "d", "a", "b"], "q3": ["b", "a", "c", "d"]}
    holding = {"q1": {"c"}, "q2": {"b"}, "q3": {"a"}}
    # q1: c is in our first two and not in theirs. q2: b is lost, nothing is found. q3: a is in both.
    assert open_qa_scores(ranked, first_stage, holding, n=2) == pytest.approx(
        {"P@2": 2 / 3, "PBT@2": 1 / 3, "PTB@2": 1 / 3}
    )


def test_one_question_can_gain_an_answer_and_lose_another():
    found = open_qa_scores({"q": ["b"]}, {"q": ["a", "b"]}, {"q": {"a", "b"}}, n=1)
    assert found == {"P@1": 1.0, "PBT@1": 1.0, "PTB@1": 1.0}


def test_a_reranker_that_changes_nothing_gains_and_loses_nothing():
    order = {"q": ["a", "b", "c"]}
    assert open_qa_scores(order, order, {"q": {"b"}}, n=2) == {"P@2": 1.0, "PBT@2": 0.0, "PTB@2": 0.0}


def test_a_question_that_was_not_ranked_or_has_no_document_counts_as_not_found():
    assert open_qa_scores({}, {"q": ["a"]}, {"q": {"a"}, "r": set()}, n=5) == {"P@5": 0.0, "PBT@5": 0.0, "PTB@5": 0.5}


@given(questions, st.integers(1, 7))
def test_p_pbt_and_ptb_are_what_the_paper_says(asked, n):
    ranked = {str(i): one for i, (one, _, _) in enumerate(asked)}
    first_stage = {str(i): one for i, (_, one, _) in enumerate(asked)}
    holding = {str(i): one for i, (_, _, one) in enumerate(asked)}
    expected = [sum(values) / len(asked) for values in zip(*(slow_open_qa(*one, n) for one in asked), strict=True)]
    assert list(open_qa_scores(ranked, first_stage, holding, n).values()) == pytest.approx(expected)


@pytest.mark.parametrize("n", [0, -1, True, 2.0, "10"])
def test_n_is_a_whole_number_from_one(n):
    with pytest.raises(CascadaError, match="it must be a whole number from 1"):
        open_qa_scores({}, {}, {"q": {"a"}}, n=n)


def test_open_qa_needs_a_question():
    with pytest.raises(CascadaError, match="no question"):
        open_qa_scores({"q": ["a"]}, {"q": ["a"]}, {})
