"""The ranker: a list of stages, and the methods that run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cascada.ranking.executor import Outcome, Rules, execute
from cascada.ranking.fit import Fit, Speeds
from cascada.ranking.inputs import QuestionCandidates, RankOptions, batches_of, checked_group, read_text, text_of
from cascada.ranking.plan import Drop, Keep, Plan, drop_plan, plan_of
from cascada.ranking.result import Item, Ranking, StageCost, TextOrMapping
from cascada.ranking.stage import NO_DEADLINE, Deadline, Floats, Pairs, Stage

Loader = Callable[..., "Ranker"]


_loader: list[Loader] = []


DEFAULT_OPTIONS = RankOptions()


def use_loader(load: Loader) -> None:
    """Set the function behind `Ranker.load`. `cascada.systems` provides it, so that ranking depends on no system."""
    _loader[:] = [load]


class Ranker:
    """Ranks the candidates of a question. Immutable, and safe to use from several threads; see `Ranker.load`."""

    def __init__(self, stages: Sequence[Stage], *, full: int | None = None, plan: Plan | None = None) -> None:
        """Make a ranker from stages.

        Costs are relative to the last `full` stages, by default to all of them. `plan` is the default drop plan;
        without one, no candidates are dropped.
        """
        self.stages = tuple(stages)
        self.full = len(self.stages) if full is None else full
        self._plan = plan or drop_plan(None, len(self.stages))
        self._speeds = Speeds(len(self.stages))

    @property
    def exits(self) -> tuple[int, ...]:
        """The layers after which candidates may be dropped, and the last layer."""
        return tuple(stage.exit for stage in self.stages)

    @property
    def plan(self) -> Plan:
        """The drop plan of calls that give neither `drop` nor `keep`."""
        return self._plan

    @property
    def reads_context(self) -> bool:
        """Whether the last stage tells a candidate's own words from its context. Others read both as one text, so that
        a sentence may score by what stands before it."""
        return bool(getattr(self.stages[-1], "reads_context", False))

    @property
    def activation(self) -> str:
        """How the model's owner reads its raw scores: `sigmoid` or `softmax`, which give the score in [0, 1], or
        `identity`, for somebody's own cross-encoder whose raw score is what it is used by."""
        return str(getattr(self.stages[-1], "activation", "sigmoid"))

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
        (`organisation/name`), `bm25`, or an encoder whose embeddings are compared without training: `cosine:FOLDER` by
        their means, `late:FOLDER` by late interaction. `A+B` runs rankers in sequence, each on the survivors of the one
        before. The default is the bundled model, `cascada-mini`.

        A decoupled ranker reads document encodings from a `store`, given as a path (see `cascada encode`) or as an
        object. Documents that are not in the store are encoded when they are ranked, and added to it if `add` is set.
        `bm25` computes IDF and average length from `texts`, or by default from the candidates of each question.

        >>> ranker = Ranker.load("bm25")
        >>> ranker.rank("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."])[0].index
        1
        """
        return _loader[-1](model, store=store, add=add, texts=texts)

    def rank(
        self,
        question: str,
        candidates: Sequence[TextOrMapping],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        min_score: float | None = None,
        deadline_ms: float | None = None,
    ) -> Ranking:
        """Order the candidates, best first; candidates with equal scores keep the order they were passed in.

        Candidates are strings, or mappings with a "text".

        - `top` returns only the first few candidates. `min_score` returns only candidates whose score, in [0, 1], is at
          least this; there may be none.
        - `drop` is the share of the surviving candidates that each exit drops: one number, or one for each exit but the
          last. `keep` gives instead the number of candidates that survive each exit but the last. Without either, the
          ranker's own plan applies; `drop=0` runs every candidate to the last exit.
        - `deadline_ms` stops the ranking after this many milliseconds. The order is then that of the last stage that
          finished, and `complete` is False; the first stage always finishes. `drop="fit"` drops as few candidates as
          necessary to finish in time, as far as the speed of the stages can be predicted.
        """
        options = RankOptions.of(top=top, drop=drop, keep=keep, min_score=min_score, deadline_ms=deadline_ms)
        return self.rank_together([(question, candidates)], options)[0]

    def rank_many(
        self,
        groups: Iterable[QuestionCandidates],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        min_score: float | None = None,
    ) -> Iterator[Ranking]:
        """Rank each (question, candidates), in order; small groups are computed together."""
        return self.rank_all(groups, RankOptions.of(top=top, drop=drop, keep=keep, min_score=min_score))

    def rank_all(
        self, groups: Iterable[QuestionCandidates], options: RankOptions = DEFAULT_OPTIONS
    ) -> Iterator[Ranking]:
        """`rank_many` with the options as one value, whose deadline is ignored."""
        rules = self._rules(options)
        for batch in batches_of(groups):
            for group, outcome in zip(batch, self._run(batch, rules), strict=True):
                yield self._ranking(*group, outcome, options)

    def rank_together(
        self, groups: Iterable[QuestionCandidates], options: RankOptions = DEFAULT_OPTIONS
    ) -> list[Ranking]:
        """Rank each (question, candidates), all in one run with one deadline, as a server does with a batch."""
        batch = [checked_group(group) for group in groups]
        if not batch:
            return []
        outcomes = self._run(batch, self._rules(options), options.deadline)
        return [self._ranking(*group, outcome, options) for group, outcome in zip(batch, outcomes, strict=True)]

    def score(self, question: str, candidates: Sequence[TextOrMapping], *, drop: Drop = None) -> Floats:
        """The scores in [0, 1], in the order of the candidates; comparable only if none is dropped (`drop=0`)."""
        (outcome,) = self._run([checked_group((question, candidates))], self._rules(RankOptions.of(drop=drop)))
        return outcome.probability

    def exit_scores(self, groups: Iterable[QuestionCandidates]) -> Iterator[Floats]:
        """The raw score of every candidate at every exit, (exits, candidates) for each group, without drops."""
        no_drops = drop_plan(0, len(self.stages))
        for batch in batches_of(groups):
            yield from (outcome.scores for outcome in self._run(batch, no_drops))

    def resolved(self, options: RankOptions) -> RankOptions:
        """The options with their plan for this ranker. With `drop="fit"` there is none: drops are chosen on the way."""
        if options.plan is not None or (options.drop == "fit" and options.keep is None):
            return options
        return replace(options, plan=plan_of(options.drop, options.keep, len(self.stages), otherwise=self.plan))

    def _rules(self, options: RankOptions) -> Rules:
        plan = self.resolved(options).plan
        return Fit(self.stages, self._speeds, options.deadline) if plan is None else plan

    def _run(
        self, batch: Sequence[QuestionCandidates], rules: Rules, deadline: Deadline = NO_DEADLINE
    ) -> list[Outcome]:
        pairs = Pairs(
            questions=[question for question, _ in batch],
            texts=[read_text(candidate) for _, candidates in batch for candidate in candidates],
            owner=np.repeat(np.arange(len(batch)), [len(candidates) for _, candidates in batch]),
        )
        outcomes = execute(self.stages, pairs, rules, deadline)
        self._speeds.learn(outcomes)
        return outcomes

    def _ranking(
        self, question: str, candidates: Sequence[TextOrMapping], outcome: Outcome, options: RankOptions
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

    def _item(self, index: int, candidate: TextOrMapping, outcome: Outcome) -> Item:
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
