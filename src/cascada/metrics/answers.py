"""Exact match and F1 of short answers, by SQuAD's rules.

They compare words in lower case, without punctuation and articles, and take the best of the correct answers. If there
is no correct answer, as in SQuAD 2, the empty answer is correct.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum

from cascada.core.errors import CascadaError

_PUNCTUATION = str.maketrans("", "", string.punctuation)


_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalised(answer: str) -> str:
    """Normalise an answer for comparison.

    >>> normalised("The  Normans, (Latin)")
    'normans latin'
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, correct: Sequence[str]) -> float:
    """1 if the answer is one of the correct ones, else 0. If there are none, the empty answer is correct."""
    return float(normalised(answer) in {normalised(text) for text in correct or [""]})


def f1(answer: str, correct: Sequence[str]) -> float:
    """F1 of the answer's words against those of a correct answer; the best over all correct answers.

    >>> f1("the Rhine river", ["Rhine", "the Danube"])
    0.6666666666666666
    """
    return max(_f1(normalised(answer).split(), normalised(text).split()) for text in correct or [""])


def _f1(answer: list[str], correct: list[str]) -> float:
    if not answer or not correct:
        return float(answer == correct)
    shared = (Counter(answer) & Counter(correct)).total()
    return 2 * shared / (len(answer) + len(correct))  # 2pr / (p + r), with p = shared/answer and r = shared/correct


def answer_scores(answers: Mapping[str, str], correct: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Mean EM and F1 over the questions of `correct`. A question that is not in `answers` has the empty answer.

    >>> answer_scores({"q1": "in 1066"}, {"q1": ["1066"], "q2": ["Hastings"]})
    {'EM': 0.0, 'F1': 0.3333333333333333}
    """
    if not correct:
        raise CascadaError("There is no question to measure answers on.")
    measured = {"EM": exact_match, "F1": f1}
    return {
        name: fsum(measure(answers.get(question, ""), given) for question, given in correct.items()) / len(correct)
        for name, measure in measured.items()
    }
