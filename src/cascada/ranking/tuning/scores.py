"""The scores of every exit on a data set, from one pass: all that tuning needs from a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from cascada.core.errors import CascadaError
from cascada.data import Group
from cascada.ranking.ranker import Ranker
from cascada.ranking.runs import with_candidates
from cascada.ranking.stage import START, Exit, Floats, Ints, exit_of

Advance = Callable[[int], None]
"""Called with the number of items done since the last call, for a progress bar."""


def ignored(count: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class ScoredQuestion:
    """The candidates of one question, with their scores at every exit."""

    scores: Floats  # (exits, candidates)
    labels: Ints  # (candidates,)
    ids: tuple[str, ...]
    best: int | None = None
    """Index of the candidate that a guarantee is about; by default, the best one at the last exit."""

    @property
    def candidates(self) -> int:
        """How many candidates the question has."""
        return len(self.ids)


@dataclass(frozen=True)
class ExitScores:
    """The scores of every exit of one model on a data set."""

    exits: tuple[Exit, ...]
    layers: tuple[int, ...]
    """Layers from the previous exit to each exit: the cost of a candidate that reaches it."""
    full: int
    """Layers of the model that costs are relative to."""
    questions: tuple[ScoredQuestion, ...]

    def take(self, rows: Iterable[int]) -> ExitScores:
        """The scores of some of the questions."""
        return replace(self, questions=tuple(self.questions[row] for row in rows))

    def halves(self, seed: int) -> tuple[ExitScores, ExitScores]:
        """Two random halves of the questions; of an odd number the second half gets one more."""
        shuffled = np.random.default_rng(seed).permutation(len(self.questions)).tolist()
        middle = len(shuffled) // 2
        return self.take(sorted(shuffled[:middle])), self.take(sorted(shuffled[middle:]))

    @property
    def free(self) -> int:
        """How many stages in front run no layer: BM25, exit 0, or both."""
        stages = zip(self.exits, self.layers, strict=True)
        return sum(1 for _ in takewhile(lambda stage: stage[0] in (START, 0) and stage[1] == 0, stages))

    def until(self, exit: Exit) -> ExitScores:
        """The scores of the model that ends at this exit."""
        count = self.exits.index(exit) + 1
        questions = tuple(replace(question, scores=question.scores[:count]) for question in self.questions)
        return replace(self, exits=self.exits[:count], layers=self.layers[:count], questions=questions)


def collect(ranker: Ranker, groups: Sequence[Group], *, advance: Advance = ignored) -> ExitScores:
    """Run every candidate to the last exit and record its score at every exit.

    Questions and candidates must have ids (see `cascada.data.identified`); questions without candidates are left out.
    `advance` is called with the number of pairs scored.
    """
    exits = tuple(map(exit_of, ranker.stages))
    _check_exits(exits)
    groups = with_candidates(groups)
    questions = []
    for group, scores in zip(groups, ranker.exit_scores((g.question, g.texts) for g in groups), strict=True):
        advance(len(group.candidates))
        questions.append(scored_question(group, scores))
    layers = tuple(stage.layers for stage in ranker.stages)
    return ExitScores(exits, layers, sum(layers[-ranker.full :]), tuple(questions))


def scored_question(group: Group, scores: Floats) -> ScoredQuestion:
    """The group with the scores of its candidates, (exits, candidates)."""
    ids = tuple(str(candidate.id) for candidate in group.candidates)
    return ScoredQuestion(scores, np.array(group.labels, np.int64), ids)


def _check_exits(exits: tuple[Exit, ...]) -> None:
    if len(exits) < 2:
        raise CascadaError("This ranker has a single exit and drops no candidates: there is nothing to tune.")
    if len(set(exits)) < len(exits):  # tables and pictures name every exit
        listed = ", ".join(map(str, exits))
        raise CascadaError(f"Two exits of this ranker have the same name ({listed}), so they cannot be tuned.")
