"""The ranker: a list of stages behind three methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from cascada.errors import CascadaError
from cascada.ranking.drop import Drop, drop_plan
from cascada.ranking.executor import Outcome, execute
from cascada.ranking.result import Document, Item, Ranking
from cascada.ranking.stage import Floats, Pairs, Stage

PAIRS_AT_ONCE = 2048
"""`rank_many` runs this many pairs together: enough to fill batches of like length, little enough to hold."""


class Ranker:
    """Orders a question's candidates. Made by `Ranker.load`; safe to use from many threads."""

    def __init__(self, stages: Sequence[Stage], *, full_layers: int) -> None:
        self.stages = tuple(stages)
        self.full_layers = full_layers

    @staticmethod
    def load(model: str | Path | None = None) -> Ranker:
        """A ranker by name.

        `model` is a folder written by `cascada train`, such a folder's name on the hub (`organisation/name`), `bm25`,
        or `cosine:FOLDER` for an encoder whose mean embeddings are compared. Without a name: BM25.

        >>> ranker = Ranker.load("bm25")
        >>> ranker.rank("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."])[0].index
        1
        """
        from cascada.ranking.load import load

        return load(model)

    def rank(
        self, question: str, candidates: Sequence[Document], *, top: int | None = None, drop: Drop = None
    ) -> Ranking:
        """Order the candidates, best first; of equal scores the one given first stands first.

        Candidates are strings or mappings with a "text". `top` keeps the first few. `drop` is the share of the
        surviving candidates that each exit removes, one number or one for each exit but the last.
        """
        return next(self.rank_many([(question, candidates)], top=top, drop=drop))

    def rank_many(
        self,
        groups: Iterable[tuple[str, Sequence[Document]]],
        *,
        top: int | None = None,
        drop: Drop = None,
    ) -> Iterator[Ranking]:
        """`rank` for each (question, candidates), in order; small groups are computed together."""
        if top is not None and (isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 1):
            raise CascadaError(f"top is {top!r}; it must be a whole number from 1.")
        for batch in _batches(groups):
            for (question, candidates), outcome in zip(batch, self._run(batch, drop), strict=True):
                yield self._ranking(question, candidates, outcome, top)

    def score(self, question: str, texts: Sequence[Document], *, drop: Drop = None) -> Floats:
        """The candidates' scores in [0, 1], in the order given."""
        (outcome,) = self._run([_checked((question, texts))], drop)
        return outcome.probability

    def _run(self, batch: Sequence[_Group], drop: Drop) -> list[Outcome]:
        pairs = Pairs(
            questions=[question for question, _ in batch],
            texts=[text_of(candidate) for _, candidates in batch for candidate in candidates],
            owner=np.repeat(np.arange(len(batch)), [len(candidates) for _, candidates in batch]),
        )
        return execute(self.stages, pairs, drop_plan(drop, len(self.stages)))

    def _ranking(self, question: str, candidates: Sequence[Document], outcome: Outcome, top: int | None) -> Ranking:
        items = tuple(
            Item(
                text=text_of(candidates[index]),
                score=float(outcome.probability[index]),
                raw_score=float(outcome.raw[index]),
                index=index,
                exit=self.stages[outcome.stage[index]].exit,
                truncated=bool(outcome.truncated[index]),
                document=candidates[index],
            )
            for index in outcome.order[:top].tolist()
        )
        cost = outcome.layers_run / (self.full_layers * len(candidates)) if self.full_layers else 1.0
        return Ranking(question=question, items=items, relative_cost=cost)


_Group = tuple[str, Sequence[Document]]


def text_of(candidate: Document) -> str:
    """The text of a candidate, which is a string or has one under "text"."""
    text = candidate.get("text") if isinstance(candidate, Mapping) else candidate
    if not isinstance(text, str):
        where = 'a mapping whose "text" is ' if isinstance(candidate, Mapping) else ""
        found = type(text).__name__
        raise CascadaError(f'A candidate is {where}{found}; it must be a string or have one under "text".')
    return text


def _batches(groups: Iterable[_Group]) -> Iterator[list[_Group]]:
    """Groups put together until they hold `PAIRS_AT_ONCE` pairs; each is checked on the way."""
    batch: list[_Group] = []
    held = 0
    for group in groups:
        batch.append(_checked(group))
        held += len(batch[-1][1])
        if held >= PAIRS_AT_ONCE:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _checked(group: _Group) -> _Group:
    """The group with its candidates as they are now: a list may be changed before its ranking is asked for."""
    try:
        question, candidates = group
    except (TypeError, ValueError):
        raise CascadaError(f"A group is {type(group).__name__}; it must be a question with its candidates.") from None
    if not isinstance(question, str):
        raise CascadaError(f"The question is {type(question).__name__}; it must be a string.")
    if not question.strip():
        raise CascadaError("The question is empty.")
    if isinstance(candidates, (str, bytes, Mapping)) or not isinstance(candidates, Sequence):
        raise CascadaError(f"The candidates are {type(candidates).__name__}; they must be a list of strings.")
    if not candidates:
        raise CascadaError("There are no candidates to rank.")
    return question, tuple(candidates)
