"""Ids for data that has none, so that runs, qrels and groups speak of the same things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cascada.data.group import Candidate, Group
from cascada.errors import DataError


def identified(groups: Iterable[Group]) -> Iterator[Group]:
    """Fill in missing ids: a question's is its position from 1, a candidate's is `{question id}-{index}` from 0.

    Ids that are there stay. Two questions, or two candidates of one question, with the same id are refused.
    """
    seen: set[str] = set()
    for position, group in enumerate(groups, 1):
        name = str(position) if group.id is None else group.id
        if name in seen:
            raise DataError(f"Question {position} ({group.question!r}) has the id {name!r} of an earlier question.")
        seen.add(name)
        yield Group(group.question, _candidates(name, group.candidates), name)


def _candidates(question: str, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    seen: set[str | None] = set()
    named = []
    for index, candidate in enumerate(candidates):
        if candidate.id is None:
            candidate = replace(candidate, id=f"{question}-{index}")
        if candidate.id in seen:
            raise DataError(f"Question {question!r} has two candidates with the id {candidate.id!r}.")
        seen.add(candidate.id)
        named.append(candidate)
    return tuple(named)
