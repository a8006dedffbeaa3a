"""DC-BERT's measures of reranked documents: P@N, PBT@N and PTB@N."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cascada.core.errors import CascadaError


def open_qa_scores(
    ranked: Mapping[str, Sequence[str]],
    first_stage: Mapping[str, Sequence[str]],
    holding: Mapping[str, Collection[str]],
    n: int = 10,
) -> dict[str, float]:
    """P@N, PBT@N and PTB@N over the questions of `holding`: question id → the documents that contain an answer.

    `ranked` and `first_stage` map question ids to document ids, best first; a missing question has no documents.
    P@N is the share of questions with an answer among the N best. PBT@N is the share with an answer there that the N
    best of the first stage do not have, and PTB@N the reverse: an answer that only the first stage has.

    >>> open_qa_scores({"q": ["b", "c"]}, {"q": ["a", "b", "c"]}, {"q": {"a", "c"}}, n=2)
    {'P@2': 1.0, 'PBT@2': 1.0, 'PTB@2': 1.0}
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise CascadaError(f"n is {n!r}; it must be a whole number from 1.")
    if not holding:
        raise CascadaError("There is no question to measure on.")
    answered = gained = lost = 0
    for question, documents in holding.items():
        best = set(ranked.get(question, ())[:n])
        first = set(first_stage.get(question, ())[:n])
        correct = set(documents)
        answered += bool(best & correct)
        gained += bool((best - first) & correct)
        lost += bool((first - best) & correct)
    counts = {"P": answered, "PBT": gained, "PTB": lost}
    return {f"{name}@{n}": count / len(holding) for name, count in counts.items()}
