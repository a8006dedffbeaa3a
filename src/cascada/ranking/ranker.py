"""The ranker: a list of stages, and the methods that run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from cascada.core.errors import CascadaError
from cascada.ranking.assemble import Computed, computed_groups, is_skipped, ranking_of, skipped_ranking
from cascada.ranking.executor import Rules, execute
from cascada.ranking.fit import Fit, Speeds
from cascada.ranking.inputs import (
    DEFAULT_OPTIONS,
    CheckedGroup,
    QuestionCandidates,
    RankArguments,
    RankOptions,
    batches_of,
    checked_group,
    pairs_of,
)
from cascada.ranking.long_texts import Long, limit_of, read_texts
from cascada.ranking.plan import Drop, Keep, Plan, drop_plan, plan_of
from cascada.ranking.prune import PruneOptions, pruned, split_passages
from cascada.ranking.pruned import Pruned
from cascada.ranking.result import Ranking, TextOrMapping
from cascada.ranking.score_cache import ScoreCache
from cascada.ranking.selection import Cut
from cascada.ranking.stage import NO_DEADLINE, Floats, Stage
from cascada.ranking.tracing import rank_span
from cascada.text.words import words

Loader = Callable[..., "Ranker"]

_loader: list[Loader] = []


def use_loader(load: Loader) -> None:
    """Set the function behind `Ranker.load`. `cascada.systems` provides it, so that ranking depends on no system."""
    _loader[:] = [load]


class Ranker:
    """Ranks the candidates of a question. Immutable, and safe to use from several threads; see `Ranker.load`."""

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        full: int | None = None,
        plan: Plan | None = None,
        name: str | None = None,
        cache: ScoreCache | None = None,
    ) -> None:
        """Make a ranker from stages.

        Costs are relative to the last `full` stages, by default to all of them. `plan` is the default drop plan;
        without one, no candidates are dropped. `name` is the model's, for traces. Scores in `cache` are not computed
        again.
        """
        self.stages = tuple(stages)
        self.name = name
        self.cache = cache
        self.full = len(self.stages) if full is None else full
        self._plan = plan or drop_plan(None, len(self.stages))
        self._limit = limit_of(self.stages)
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
        """Whether the last stage distinguishes a candidate's own words from its context. Other rankers read both as one
        text, so that a sentence may get its score from its context."""
        return bool(getattr(self.stages[-1], "reads_context", False))

    @property
    def activation(self) -> str:
        """How raw scores become the scores that a model is used by: `sigmoid` or `softmax`, with scores in [0, 1], or
        `identity`, for cross-encoders that are used by their raw scores."""
        return str(getattr(self.stages[-1], "activation", "sigmoid"))

    @property
    def long(self) -> Long:
        """What `long` is by default: "best", but "first" if encodings come from a store, which has those of whole
        texts."""
        return "first" if getattr(self.stages[-1], "reads_store", False) else "best"

    def with_plan(self, plan: Plan) -> Ranker:
        """The same ranker with another default plan."""
        return Ranker(self.stages, full=self.full, plan=plan, name=self.name, cache=self.cache)

    def with_name(self, name: str, cache: ScoreCache | None = None) -> Ranker:
        """The same ranker with a name and, if given, a cache."""
        return Ranker(self.stages, full=self.full, plan=self.plan, name=name, cache=cache or self.cache)

    @staticmethod
    def load(
        model: str | Path | None = None,
        *,
        store: Any = None,
        add: bool = False,
        texts: Iterable[str] | None = None,
        cache: str | Path | None = None,
        cache_mb: float = 256,
    ) -> Ranker:
        """Load a ranker by name.

        `model` is a folder written by `cascada train` or `cascada export`, the name of such a folder on the hub
        (`organisation/name`), `bm25`, or an encoder whose embeddings are compared without training: `cosine:FOLDER` by
        their means, `late:FOLDER` by late interaction. `A+B` runs rankers in sequence, each on the survivors of the one
        before. The default is the bundled model, `cascada-mini`.

        A decoupled ranker reads document encodings from a `store`, given as a path (see `cascada encode`) or as an
        object. Documents that are not in the store are encoded when they are ranked, and added to it if `add` is set.
        `bm25` computes IDF and average length from `texts`, or by default from the candidates of each question.

        `cache` is a folder that remembers the scores of each question with each text, up to `cache_mb` megabytes; the
        oldest go first. It is made if necessary, and may be shared by models and processes.

        >>> ranker = Ranker.load("bm25")
        >>> ranker.rank("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."])[0].index
        1
        """
        return _loader[-1](model, store=store, add=add, texts=texts, cache=cache, cache_mb=cache_mb)

    def rank(
        self,
        question: str,
        candidates: Sequence[TextOrMapping],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        min_score: float | None = None,
        cut: Cut | None = None,
        deadline_ms: float | None = None,
        long: Long | None = None,
        max_tokens: int | None = None,
        prior: float | bool | None = None,
        skip_if_sure: float | None = None,
    ) -> Ranking:
        """Order the candidates, best first; candidates with equal scores keep the order they were passed in.

        Candidates are strings, or mappings with a "text".

        - `top` returns only the first few candidates. `min_score` returns only candidates whose score, in [0, 1], is at
          least this; there may be none. `cut="gap"` returns those before the widest gap in the scores.
        - `drop` is the share of the surviving candidates that each exit drops: one number, or one for each exit but the
          last. `keep` gives instead the number of candidates that survive each exit but the last. Without either, the
          ranker's own plan applies; `drop=0` runs every candidate to the last exit.
        - `deadline_ms` stops the ranking after this many milliseconds. The order is then that of the last stage that
          finished, and `complete` is False; the first stage always finishes. `drop="fit"` drops as few candidates as
          necessary to finish in time, as far as the speed of the stages can be predicted.
        - `long` says what happens to a text that is longer than the ranker reads: "best" reads it in windows of whole
          sentences and counts the best of them, "first" cuts it, "error" refuses it. The default is "best", and "first"
          where encodings come from a store. `max_tokens` reads only this many tokens of each text.
        - `prior` blends in the first stage's ranking: a number is its weight, True the default weight. It is the order
          by the score that each candidate has under "prior", or else the order of `candidates`.
        - `skip_if_sure` returns the first stage's order without computing anything, if its best score is ahead of the
          second by this many standard deviations of the others. Candidates must have its scores under "prior".
        """
        options = RankOptions.of(
            top=top,
            drop=drop,
            keep=keep,
            min_score=min_score,
            cut=cut,
            deadline_ms=deadline_ms,
            long=long,
            max_tokens=max_tokens,
            prior=prior,
            skip_if_sure=skip_if_sure,
        )
        with rank_span(self.name, question, candidates, options) as record:
            (ranking,) = self.rank_together([(question, candidates)], options)
            record(ranking)
        return ranking

    def rank_many(self, groups: Iterable[QuestionCandidates], **arguments: Unpack[RankArguments]) -> Iterator[Ranking]:
        """Rank each (question, candidates), in order; small groups are computed together.

        Takes the arguments of `rank` except `deadline_ms`, which applies to one question.
        """
        if arguments.get("deadline_ms") is not None:
            raise CascadaError("deadline_ms applies to one question: rank_many takes none.")
        return self.rank_all(groups, RankOptions.of(**arguments))

    def rank_all(
        self, groups: Iterable[QuestionCandidates], options: RankOptions = DEFAULT_OPTIONS
    ) -> Iterator[Ranking]:
        """`rank_many` with the options as one value, whose deadline is ignored."""
        options = replace(options, deadline=NO_DEADLINE)
        for batch in batches_of(groups):
            yield from self.rank_together(batch, options)

    def rank_together(
        self, groups: Iterable[QuestionCandidates], options: RankOptions = DEFAULT_OPTIONS
    ) -> list[Ranking]:
        """Rank each (question, candidates), all in one run with one deadline, as a server does with a batch."""
        batch = [checked_group(group) for group in groups]
        if not batch:
            return []
        computed = iter(self._computed([group for group in batch if not is_skipped(group, options)], options))
        return [
            skipped_ranking(group, options, self.stages)
            if is_skipped(group, options)
            else ranking_of(next(computed), options, self.stages, full=self.full)
            for group in batch
        ]

    def prune(
        self,
        question: str,
        passages: Sequence[TextOrMapping],
        *,
        min_score: float | None = None,
        min_relative_score: float | None = None,
        budget: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        deadline_ms: float | None = None,
        language: str = "en",
    ) -> Pruned:
        """Keep the sentences of each passage that help to answer; the order of passages and sentences stays.

        Passages are strings, or mappings with a "text" and perhaps a "context", such as a title. All of their sentences
        are ranked together, each in the context of the sentence before it where the ranker can tell the two apart.

        - A sentence is kept if its score is at least `min_relative_score` (default 0.4) times the best sentence's, and
          at least `min_score`, in [0, 1]. If it begins with a pronoun, the sentence before it is kept, too.
        - `budget` keeps instead the best sentences of all passages, up to this many tokens; with it, the relative
          threshold applies only if it is given. Tokens are counted by the ranker's own tokenizer, or in words.
        - `drop`, `keep` and `deadline_ms` are those of `rank`. Without a budget, sentences that an exit drops are cut.
        - `language`, a two-letter code, chooses the rules by which sentences are split.

        >>> ranker = Ranker.load("bm25")
        >>> ranker.prune("who wrote hamlet?", ["It rained. Hamlet is by Shakespeare."])[0].text
        'Hamlet is by Shakespeare.'
        """
        options = PruneOptions.of(min_score=min_score, min_relative_score=min_relative_score, budget=budget)
        to_run = RankOptions.of(drop=drop, keep=keep, deadline_ms=deadline_ms)
        split = split_passages(question, passages, context=self.reads_context, language=language)
        ranking = self.rank_together([(question, split.candidates)], to_run)[0] if split.candidates else None
        return pruned(split, ranking, options, self.count_tokens)

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text; of words, for rankers without a tokenizer."""
        return len(words(text)) if self._limit is None else len(self._limit.tokens(text))

    def score(self, question: str, candidates: Sequence[TextOrMapping], *, drop: Drop = None) -> Floats:
        """The scores in [0, 1], in the order of the candidates; comparable only if none is dropped (`drop=0`)."""
        (computed,) = self._computed([checked_group((question, candidates))], RankOptions.of(drop=drop))
        return computed.outcome.probability

    def exit_scores(self, groups: Iterable[QuestionCandidates]) -> Iterator[Floats]:
        """The raw score of every candidate at every exit, (exits, candidates) for each group, without drops.

        Long texts are cut.
        """
        options = RankOptions(drop=0, long="first")
        for batch in batches_of(groups):
            yield from (computed.outcome.scores for computed in self._computed(batch, options))

    def resolved(self, options: RankOptions) -> RankOptions:
        """The options with this ranker's defaults filled in. `drop="fit"` gets no plan, because the drops are chosen
        during the run."""
        options = replace(options, long=options.long or self.long)
        if options.plan is not None or (options.drop == "fit" and options.keep is None):
            return options
        return replace(options, plan=plan_of(options.drop, options.keep, len(self.stages), otherwise=self.plan))

    def _computed(self, batch: Sequence[CheckedGroup], options: RankOptions) -> list[Computed]:
        """What the stages computed for each group."""
        if not batch:
            return []
        options = self.resolved(options)
        assert options.long is not None
        read = read_texts(pairs_of(batch), self._limit, options.long, options.max_tokens)
        outcomes = execute(self.stages, read.pairs, self._rules(options), options.deadline, self.cache)
        self._speeds.learn(outcomes)
        return list(computed_groups(batch, outcomes, read, options, self.stages))

    def _rules(self, options: RankOptions) -> Rules:
        return Fit(self.stages, self._speeds, options.deadline) if options.plan is None else options.plan
