"""Exact match and F1 by SQuAD's rules: worked by hand, and against precision and recall written out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.core.errors import CascadaError
from cascada.metrics import answer_scores, exact_match, f1
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


def test_nothing_to_measure_is_said():
    with pytest.raises(CascadaError, match="no question"):
        answer_scores({}, {})
