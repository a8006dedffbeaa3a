"""Graded relevance: judgements as labels of groups, and the threshold from which a candidate counts as correct."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cascada.core.errors import CascadaError
from cascada.data.group import Candidate, Group
from cascada.data.trec import Qrels


def judged(groups: Iterable[Group], qrels: Qrels, relevant: int) -> list[Group]:
    """The groups with the judgements of `qrels` in place of their own labels; unjudged candidates get none.

    Raise CascadaError if not one candidate is judged: the ids of groups and judgements are then not the same.
    """
    labelled = [_judged_group(group, qrels.get(str(group.id), {}), relevant) for group in groups]
    if not any(candidate.relevance is not None for group in labelled for candidate in group.candidates):
        raise CascadaError(
            f"Not one candidate is judged: the ids of the candidates ({_some_ids(labelled)}) and of the judgements "
            f"({_some_judged(qrels)}) differ."
        )
    return labelled


def thresholded(groups: Iterable[Group], relevant: int) -> list[Group]:
    """The groups with labels by their relevance: correct from `relevant` on."""
    return [
        replace(
            group, candidates=tuple(_labelled(candidate, candidate.gain, relevant) for candidate in group.candidates)
        )
        for group in groups
    ]


def threshold_of(groups: Sequence[Group]) -> int:
    """The relevance from which the groups' labels are 1; 1 for data without graded relevance."""
    pairs = [
        (candidate.gain, candidate.label)
        for group in groups
        for candidate in group.candidates
        if candidate.label is not None
    ]
    incorrect = max((gain for gain, label in pairs if gain is not None and not label), default=0)
    correct = min((gain for gain, label in pairs if gain is not None and label), default=incorrect + 1)
    if correct <= incorrect:
        raise CascadaError(
            f"A candidate of relevance {incorrect} is labelled incorrect and one of relevance {correct} correct: "
            "say from which relevance a candidate counts as correct (--relevant)."
        )
    return max(incorrect + 1, 1)


def _judged_group(group: Group, relevances: dict[str, int], relevant: int) -> Group:
    candidates = tuple(
        _labelled(candidate, relevances.get(str(candidate.id)), relevant) for candidate in group.candidates
    )
    return replace(group, candidates=candidates)


def _labelled(candidate: Candidate, relevance: int | None, relevant: int) -> Candidate:
    return replace(
        candidate, relevance=relevance, label=None if relevance is None else int(relevance >= relevant), grade=None
    )


def _some_ids(groups: Sequence[Group]) -> str:
    return next((f"{group.id} {candidate.id}" for group in groups for candidate in group.candidates), "none")


def _some_judged(qrels: Qrels) -> str:
    return next((f"{question} {document}" for question, documents in qrels.items() for document in documents), "none")
