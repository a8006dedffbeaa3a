"""The ranker: a list of stages behind three methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cascada.ranking.executor import Outcome, Rules, execute
from cascada.ranking.fit import Fit, Speeds
from cascada.ranking.inputs import Asked, RankOptions, batches_of, checked, text_of
from cascada.ranking.plan import Drop, Keep, Plan, drop_plan, plan_of
from cascada.ranking.result import Document, Item, Ranking, StageCost
from cascada.ranking.stage import NO_DEADLINE, Deadline, Floats, Pairs, Stage

Loader = Callable[..., "Ranker"]
_loader: list[Loader] = []


def use_loader(load: Loader) -> None:
    """Set the function behind `Ranker.load`. The systems, which this room does not know, provide it."""
    _loader[:] = [load]


class Ranker:
    """Orders a question's candidates. Made by `Ranker.load`; immutable, and safe to use from many threads."""

    def __init__(self, stages: Sequence[Stage], *, full: int | None = None, plan: Plan | None = None) -> None:
        """Make a ranker of stages.

        `full` is how many of the stages, counted from the last, form the model that costs are relative to; all of
        them if not given. `plan` is what the exits drop when a call does not say; nothing if not given.
        """
        self.stages = tuple(stages)
        self.full = len(self.stages) if full is None else full
        self._plan = plan or drop_plan(None, len(self.stages))
        self._speeds = Speeds(len(self.stages))

    @property
    def exits(self) -> tuple[int, ...]:
        """The layers after which candidates may leave, the last one included."""
        return tuple(stage.exit for stage in self.stages)

    @property
    def plan(self) -> Plan:
        """What the exits drop when a call does not say."""
        return self._plan

    def with_plan(self, plan: Plan) -> Ranker:
        """The same ranker with another default plan."""
        return Ranker(self.stages, full=self.full, plan=plan)

    @staticmethod
    def load(
        model: str | Path | None = None,
        *,
        store: Any = None,
        add: bool = False,
        texts: Iterable[str] | None = None,
    ) -> Ranker:
        """Load a ranker by name.

        `model` is a folder written by `cascada train` or `cascada export`, the name of such a folder on the hub
        (`organisation/name`), `bm25`, or `cosine:FOLDER` for an encoder whose mean embeddings are compared. `A+B` runs
        rankers in a row, each on what the one before lets through. Without a name: the bundled model, `cascada-mini`.

        A decoupled ranker reads documents' encodings from a `store`, given by its path (see `cascada encode`) or as an
        object. Documents that the store lacks are encoded when they are ranked, and with `add` put into the store.
        `bm25` takes IDF and average length from `texts`; without them, from each question's own candidates.

        >>> ranker = Ranker.load("bm25")
        >>> ranker.rank("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."])[0].index
        1
        """
        return _loader[-1](model, store=store, add=add, texts=texts)

    def rank(
        self,
        question: str,
        candidates: Sequence[Document],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        min_score: float | None = None,
        deadline_ms: float | None = None,
    ) -> Ranking:
        """Order the candidates, best first; of equal scores the one given first stands first.

        Candidates are strings or mappings with a "text".

        - `top` returns only the first few, `min_score` only those whose score is at least that.
        - `drop` is the share of the surviving candidates that each exit removes: one number, or one for each exit but
          the last. `keep` says instead how many candidates may stay after each. Without either, the ranker's own plan
          holds; `drop=0` runs everyone to the end.
        - A ranking that is not done after `deadline_ms` stops and is returned as its last finished stage has it, with
          `complete` False; the first stage always finishes. `drop="fit"` drops as few as it takes to be done in time,
          as far as the time that stages take can be predicted.
        """
        options = RankOptions.of(top=top, drop=drop, keep=keep, min_score=min_score, deadline_ms=deadline_ms)
        return self.rank_together([(question, candidates)], options)[0]

    def rank_many(
        self,
        groups: Iterable[Asked],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        min_score: float | None = None,
    ) -> Iterator[Ranking]:
        """`rank` for each (question, candidates), in order; small groups are computed together."""
        options = RankOptions.of(top=top, drop=drop, keep=keep, min_score=min_score)
        rules = self._rules(options)
        for batch in batches_of(groups):
            for group, outcome in zip(batch, self._run(batch, rules), strict=True):
                yield self._ranking(*group, outcome, options)

    def rank_together(self, groups: Iterable[Asked], options: RankOptions | None = None) -> list[Ranking]:
        """`rank` for each (question, candidates), all in one run and by one deadline: what a server's batch is."""
        options = options or RankOptions()
        batch = [checked(group) for group in groups]
        if not batch:
            return []
        outcomes = self._run(batch, self._rules(options), options.deadline)
        return [self._ranking(*group, outcome, options) for group, outcome in zip(batch, outcomes, strict=True)]

    def score(self, question: str, candidates: Sequence[Document], *, drop: Drop = None) -> Floats:
        """The candidates' scores in [0, 1], in the order given; comparable only if nobody is dropped (`drop=0`)."""
        (outcome,) = self._run([checked((question, candidates))], self._rules(RankOptions(drop=drop)))
        return outcome.probability

    def exit_scores(self, groups: Iterable[Asked]) -> Iterator[Floats]:
        """Every candidate's raw score at every exit, (exits, candidates) for each group. Nobody is dropped."""
        nobody = drop_plan(0, len(self.stages))
        for batch in batches_of(groups):
            yield from (outcome.scores for outcome in self._run(batch, nobody))

    def resolved(self, options: RankOptions) -> RankOptions:
        """The options with the plan that they mean for this ranker; none if drops are chosen on the way (`fit`)."""
        if options.plan is not None or (options.drop == "fit" and options.keep is None):
            return options
        return replace(options, plan=plan_of(options.drop, options.keep, len(self.stages), otherwise=self.plan))

    def _rules(self, options: RankOptions) -> Rules:
        plan = self.resolved(options).plan
        return Fit(self.stages, self._speeds, options.deadline) if plan is None else plan

    def _run(self, batch: Sequence[Asked], rules: Rules, deadline: Deadline = NO_DEADLINE) -> list[Outcome]:
        pairs = Pairs(
            questions=[question for question, _ in batch],
            texts=[text_of(candidate) for _, candidates in batch for candidate in candidates],
            owner=np.repeat(np.arange(len(batch)), [len(candidates) for _, candidates in batch]),
        )
        outcomes = execute(self.stages, pairs, rules, deadline)
        self._speeds.learn(outcomes)
        return outcomes

    def _ranking(
        self, question: str, candidates: Sequence[Document], outcome: Outcome, options: RankOptions
    ) -> Ranking:
        order = outcome.order
        if options.min_score is not None:
            order = order[outcome.probability[order] >= options.min_score]
        stages = self._costs(outcome)
        layers_run = sum(stage.layers * cost.candidates for stage, cost in zip(self.stages, stages, strict=True))
        all_layers = sum(stage.layers for stage in self.stages[-self.full :]) * len(candidates)
        return Ranking(
            question=question,
            items=tuple(self._item(index, candidates[index], outcome) for index in order[: options.top].tolist()),
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
