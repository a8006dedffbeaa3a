"""The ranker: a list of stages behind three methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cascada.errors import CascadaError
from cascada.ranking.drop import Drop, Keep, Plan, drop_plan, plan_of
from cascada.ranking.executor import Outcome, Rules, execute
from cascada.ranking.fit import Fit, Speeds
from cascada.ranking.inputs import Asked, batches_of, checked, checked_top, deadline_of, text_of
from cascada.ranking.result import Document, Item, Ranking, StageCost
from cascada.ranking.stage import NO_DEADLINE, Deadline, Floats, Pairs, Stage

if TYPE_CHECKING:
    from cascada.ranking.decoupled.documents import EncodingStore


class Ranker:
    """Orders a question's candidates. Made by `Ranker.load`; safe to use from many threads."""

    def __init__(self, stages: Sequence[Stage], *, full: int | None = None, plan: Plan | None = None) -> None:
        """`full` is how many of the stages, from the last one, are the model that costs are relative to; all of them
        if not given. `plan` is what the exits drop when a call does not say; nothing if not given.
        """
        self.stages = tuple(stages)
        self.full = len(self.stages) if full is None else full
        self.plan = plan or drop_plan(None, len(self.stages))
        self._speeds = Speeds(len(self.stages))

    @property
    def exits(self) -> tuple[int, ...]:
        """Where candidates may leave, the end included."""
        return tuple(stage.exit for stage in self.stages)

    @staticmethod
    def load(
        model: str | Path | None = None, *, store: EncodingStore | str | Path | None = None, add: bool = False
    ) -> Ranker:
        """A ranker by name.

        `model` is a folder written by `cascada train`, such a folder's name on the hub (`organisation/name`), `bm25`,
        or `cosine:FOLDER` for an encoder whose mean embeddings are compared. `A+B` puts rankers in a row, each on what
        the one before lets through. Without a name: the model in the package, `cascada-mini`.

        A decoupled ranker takes documents' encodings from a `store`, by its path (see `cascada encode`) or an object;
        what is not there is encoded when it is ranked, and with `add` put into the store.

        >>> ranker = Ranker.load("bm25")
        >>> ranker.rank("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."])[0].index
        1
        """
        from cascada.ranking.load import load

        return load(model, store=store, add=add)

    def rank(
        self,
        question: str,
        candidates: Sequence[Document],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        deadline_ms: float | None = None,
    ) -> Ranking:
        """Order the candidates, best first; of equal scores the one given first stands first.

        Candidates are strings or mappings with a "text". `top` keeps the first few. `drop` is the share of the
        surviving candidates that each exit removes, one number or one for each exit but the last; `keep` says instead
        how many candidates may stay after each; without either the ranker's own plan holds. `drop=0` runs everyone to
        the end. A ranking that is not done after `deadline_ms` stops and comes out as its last finished stage has it,
        with `complete` False; the first stage always finishes. `drop="fit"` drops as few as it takes to be done by
        then, as far as the time that stages take can be foretold.
        """
        group, top, deadline = checked((question, candidates)), checked_top(top), deadline_of(deadline_ms)
        (outcome,) = self._run([group], self._rules(drop, keep, deadline), deadline)
        return self._ranking(*group, outcome, top)

    def rank_many(
        self,
        groups: Iterable[tuple[str, Sequence[Document]]],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
    ) -> Iterator[Ranking]:
        """`rank` for each (question, candidates), in order; small groups are computed together."""
        top, rules = checked_top(top), self._rules(drop, keep)
        for batch in batches_of(groups):
            for (question, candidates), outcome in zip(batch, self._run(batch, rules), strict=True):
                yield self._ranking(question, candidates, outcome, top)

    def rank_together(
        self,
        groups: Iterable[Asked],
        *,
        drop: Drop = None,
        keep: Keep | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> list[Ranking]:
        """`rank` for each (question, candidates), all in one run and by one deadline: what a server's batch is."""
        batch = [checked(group) for group in groups]
        if not batch:
            return []
        outcomes = self._run(batch, self._rules(drop, keep, deadline), deadline)
        return [self._ranking(*group, outcome, None) for group, outcome in zip(batch, outcomes, strict=True)]

    def score(self, question: str, texts: Sequence[Document], *, drop: Drop = None) -> Floats:
        """The candidates' scores in [0, 1], in the order given; comparable only if nobody is dropped (`drop=0`)."""
        (outcome,) = self._run([checked((question, texts))], self._rules(drop, None))
        return outcome.probability

    def _rules(self, drop: Drop, keep: Keep | None, deadline: Deadline = NO_DEADLINE) -> Rules:
        if not isinstance(drop, str) or keep is not None:
            return plan_of(drop, keep, len(self.stages), otherwise=self.plan)
        if drop != "fit":
            raise CascadaError(f'drop is {drop!r}; it must be a number, a list of numbers, or "fit".')
        if deadline is NO_DEADLINE:
            raise CascadaError('drop="fit" chooses drops to meet deadline_ms, and none was given.')
        return Fit(self.stages, self._speeds, deadline)

    def _run(self, batch: Sequence[Asked], rules: Rules, deadline: Deadline = NO_DEADLINE) -> list[Outcome]:
        pairs = Pairs(
            questions=[question for question, _ in batch],
            texts=[text_of(candidate) for _, candidates in batch for candidate in candidates],
            owner=np.repeat(np.arange(len(batch)), [len(candidates) for _, candidates in batch]),
        )
        outcomes = execute(self.stages, pairs, rules, deadline)
        self._speeds.learn(outcomes)
        return outcomes

    def _ranking(self, question: str, candidates: Sequence[Document], outcome: Outcome, top: int | None) -> Ranking:
        stages = self._costs(outcome)
        layers_run = sum(stage.layers * cost.candidates for stage, cost in zip(self.stages, stages, strict=True))
        all_layers = sum(stage.layers for stage in self.stages[-self.full :]) * len(candidates)
        return Ranking(
            question=question,
            items=tuple(self._item(index, candidates[index], outcome) for index in outcome.order[:top].tolist()),
            relative_cost=layers_run / all_layers if all_layers else 1.0,
            stages=stages,
            full_flops=int(outcome.full_flops[-self.full :].sum()),
            complete=outcome.complete,
        )

    def _item(self, index: int, candidate: Document, outcome: Outcome) -> Item:
        stage = int(outcome.stage[index])
        return Item(
            text=text_of(candidate),
            score=float(outcome.probability[index]),
            raw_score=float(outcome.raw[index]),
            index=index,
            exit=self.stages[stage].exit,
            scores=tuple(outcome.scores[: stage + 1, index].tolist()),
            truncated=bool(outcome.truncated[index]),
            document=candidate,
        )

    def _costs(self, outcome: Outcome) -> tuple[StageCost, ...]:
        scored = np.isfinite(outcome.scores).sum(1)
        rows = zip(self.stages, scored, outcome.flops, outcome.seconds, strict=True)
        return tuple(StageCost(stage.exit, int(n), int(flops), float(seconds)) for stage, n, flops, seconds in rows)


def in_a_row(rankers: Sequence[Ranker]) -> Ranker:
    """Independent rankers one after another, each on what the one before let through: the sequential ranker.

    Costs are relative to the last one alone. Each drops by its own plan inside, and nothing between one and the next
    unless a call says so.
    """
    nothing = drop_plan(0, 2)
    plan = tuple(rule for ranker in rankers for rule in (*ranker.plan, *nothing))[:-1]
    return Ranker([stage for ranker in rankers for stage in ranker.stages], full=rankers[-1].full, plan=plan)
