"""Every exit's scores of a data set, from one pass: all that tuning needs to know of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cascada.core.errors import CascadaError
from cascada.data import Group
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Floats, Ints


@dataclass(frozen=True)
class Question:
    """One question's candidates, as every exit scored them."""

    scores: Floats  # (exits, candidates)
    labels: Ints  # (candidates,)
    ids: tuple[str, ...]

    @property
    def candidates(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class ExitScores:
    """A data set, as every exit of one model scored it."""

    exits: tuple[int, ...]
    layers: tuple[int, ...]
    """Layers from the exit before to each exit: what a candidate that comes to it costs there."""
    full: int
    """Layers of the model that costs are relative to."""
    questions: tuple[Question, ...]

    def take(self, rows: Iterable[int]) -> ExitScores:
        """Some of the questions."""
        return replace(self, questions=tuple(self.questions[row] for row in rows))

    def halves(self, seed: int) -> tuple[ExitScores, ExitScores]:
        """The questions in two halves by chance; the second has one more if their number is odd."""
        shuffled = np.random.default_rng(seed).permutation(len(self.questions)).tolist()
        middle = len(shuffled) // 2
        return self.take(sorted(shuffled[:middle])), self.take(sorted(shuffled[middle:]))

    def until(self, exit: int) -> ExitScores:
        """The model that ends at this exit."""
        count = self.exits.index(exit) + 1
        questions = tuple(replace(question, scores=question.scores[:count]) for question in self.questions)
        return replace(self, exits=self.exits[:count], layers=self.layers[:count], questions=questions)


def collect(
    ranker: Ranker, groups: Sequence[Group], *, advance: Callable[[int], None] = lambda pairs: None
) -> ExitScores:
    """Run every candidate to the end and keep its score at every exit; questions without candidates are left out.

    Questions and candidates must have ids (see `cascada.data.identified`). `advance` is called with the number of
    pairs that were scored, for a progress bar.
    """
    _check_exits(ranker.exits)
    groups = [group for group in groups if group.candidates]
    questions = []
    for group, scores in zip(groups, ranker.exit_scores((g.question, g.texts) for g in groups), strict=True):
        advance(len(group.candidates))
        questions.append(question_of(group, scores))
    layers = tuple(stage.layers for stage in ranker.stages)
    return ExitScores(ranker.exits, layers, sum(layers[-ranker.full :]), tuple(questions))


def question_of(group: Group, scores: Floats) -> Question:
    """The group with its candidates' scores (exits, candidates)."""
    return Question(scores, np.array(group.labels, np.int64), tuple(str(one.id) for one in group.candidates))


def _check_exits(exits: tuple[int, ...]) -> None:
    if len(exits) < 2:
        raise CascadaError("This ranker has one exit, where nobody leaves early: there is nothing to tune.")
    if len(set(exits)) < len(exits):  # tables and pictures name an exit by its number
        listed = ", ".join(map(str, exits))
        raise CascadaError(f"Two exits of this ranker have the same number ({listed}): they cannot be told apart.")
