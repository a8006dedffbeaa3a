"""How well a short answer matches the ones people gave: exact match and F1 by SQuAD's rules.

Both compare words in lower case, without punctuation and articles, and take the best of the answers given. That a
question has no answer is right where people gave none, as in SQuAD 2.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import fsum

from cascada.core.errors import CascadaError

_PUNCTUATION = str.maketrans("", "", string.punctuation)


_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalised(answer: str) -> str:
    """What is compared.

    >>> normalised("The  Normans, (Latin)")
    'normans latin'
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, correct: Sequence[str]) -> float:
    """1 if the answer is one of the correct ones, else 0; without correct ones the empty answer is right."""
    return float(normalised(answer) in {normalised(one) for one in correct or [""]})


def f1(answer: str, correct: Sequence[str]) -> float:
    """The best F1 of the answer's words against those of a correct one.

    >>> f1("the Rhine river", ["Rhine", "the Danube"])
    0.6666666666666666
    """
    return max(_f1(normalised(answer).split(), normalised(one).split()) for one in correct or [""])


def _f1(answer: list[str], correct: list[str]) -> float:
    if not answer or not correct:
        return float(answer == correct)
    shared = (Counter(answer) & Counter(correct)).total()
    return 2 * shared / (len(answer) + len(correct))  # 2pr / (p + r), with p = shared/answer and r = shared/correct


def answer_scores(answers: Mapping[str, str], correct: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Mean EM and F1 over the questions of `correct`; one without an answer was answered with nothing.

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


def open_qa_scores(
    ranked: Mapping[str, Sequence[str]],
    first_stage: Mapping[str, Sequence[str]],
    holding: Mapping[str, Collection[str]],
    n: int = 10,
) -> dict[str, float]:
    """P@N, PBT@N and PTB@N over the questions of `holding`: question id → the documents that hold an answer to it.

    `ranked` and `first_stage` are question id → document ids, best first; a question that one of them lacks was
    answered with nothing there.

    >>> open_qa_scores({"q": ["b", "c"]}, {"q": ["a", "b", "c"]}, {"q": {"a", "c"}}, n=2)
    {'P@2': 1.0, 'PBT@2': 1.0, 'PTB@2': 1.0}
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise CascadaError(f"n is {n!r}; it must be a whole number from 1.")
    if not holding:
        raise CascadaError("There is no question to measure on.")
    found = beyond = lost = 0
    for question, documents in holding.items():
        ours = set(ranked.get(question, ())[:n])
        theirs = set(first_stage.get(question, ())[:n])
        correct = set(documents)
        found += bool(ours & correct)
        beyond += bool((ours - theirs) & correct)
        lost += bool((theirs - ours) & correct)
    counts = {"P": found, "PBT": beyond, "PTB": lost}
    return {f"{name}@{n}": count / len(holding) for name, count in counts.items()}
