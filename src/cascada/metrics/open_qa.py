"""What a reranker finds for a reader: P@N, PBT@N and PTB@N of the DC-BERT paper.

Each is a share of the questions. P@N: one of the first N documents holds the answer. PBT@N, "beyond TF-IDF": one of
them holds it and is not among the first N of the first stage; higher is better. PTB@N is the reverse: one of the first
stage's first N holds the answer and is not among the reranker's; lower is better. Note that P@N is not trec_eval's
precision, which `cascada.metrics.evaluate` gives under this name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cascada.errors import CascadaError


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
