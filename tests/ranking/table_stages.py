"""Stages with known scores, cases for them, and a naive implementation of the cascade's rule to compare with."""

from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from cascada.ranking.executor import execute
from cascada.ranking.stage import NO_DEADLINE, Pairs, Scored


@dataclass(frozen=True)
class Carried:
    """The state that the stages pass on: for each pair, how many stages have scored it, and its name."""

    seen: np.ndarray
    names: tuple[str, ...]

    def take(self, rows):
        return Carried(self.seen[rows], tuple(self.names[row] for row in rows))


class TableStage:
    """Looks up the score of a candidate by its text, which is its name, and counts its work."""

    def __init__(self, place, scores, *, layers=1, tokens=None, exit=None):
        self.place = place
        self.scores = scores
        self.layers = layers
        self.tokens = tokens or dict.fromkeys(scores, 1)
        self.exit = place + 1 if exit is None else exit
        self.scored = 0
        self.spent = 0

    def score(self, pairs, state, deadline):
        state = state or Carried(np.zeros(len(pairs), int), tuple(pairs.texts))
        assert state.names == tuple(pairs.texts), "the state belongs to other candidates"
        assert (state.seen == self.place).all()
        for text in pairs.texts:
            self.work(text, deadline)
        scores = np.array([self.scores[text][self.place] for text in pairs.texts], np.float32)
        truncated = np.array([text.endswith("7") for text in pairs.texts])
        tokens = np.array([self.tokens[text] for text in pairs.texts])
        return Scored(scores, Carried(state.seen + 1, state.names), truncated, tokens)

    def work(self, text, deadline):
        self.scored += 1
        self.spent += self.layers * self.tokens[text] ** 2 + 1

    def flops(self, tokens):
        return self.layers * tokens**2 + 1

    def probability(self, scores):
        return (0.5 + 0.5 * np.tanh(scores.astype(float) / 2)).astype(np.float32)  # a sigmoid that cannot overflow


@dataclass(frozen=True)
class Case:
    groups: list[list[tuple[float, ...]]]
    """For each question, each candidate's score at every stage."""
    plan: list[str | int]
    """Drop ratios as they would be written, or keep counts."""
    layers: list[int]

    @property
    def names(self):
        return [[f"{q}-{c}" for c in range(len(group))] for q, group in enumerate(self.groups)]

    @property
    def tokens(self):
        """Texts of one to thirty tokens."""
        return {name: 1 + 7 * i % 30 for names in self.names for i, name in enumerate(names)}

    @property
    def rules(self):
        return [rule if isinstance(rule, int) else Decimal(rule) for rule in self.plan]

    def stages(self, kind=TableStage, **settings):
        rows = zip(self.names, self.groups, strict=True)
        scores = {name: row for names, group in rows for name, row in zip(names, group, strict=True)}
        settings["tokens"] = self.tokens
        return [kind(place, scores, layers=layers, **settings) for place, layers in enumerate(self.layers)]

    def run(self, stages=None, deadline=NO_DEADLINE):
        texts = [name for names in self.names for name in names]
        owner = np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])
        pairs = Pairs([f"question {q}" for q in range(len(self.groups))], texts, owner)
        return execute(stages or self.stages(), pairs, self.rules, deadline)


@st.composite
def cases(draw, questions=1, stages=1):
    stages = draw(st.integers(stages, 4))
    score = st.integers(-3, 3).map(float)  # few values, so that ties are common
    group = st.lists(st.tuples(*[score] * stages), min_size=1, max_size=12)
    count = draw(st.integers(questions, 5))
    groups = draw(st.lists(group, min_size=count, max_size=count))
    rule = st.sampled_from(["0", "0.1", "0.3", "0.5", "0.9"]) | st.integers(1, 13)
    plan = draw(st.lists(rule, min_size=stages - 1, max_size=stages - 1))
    return Case(groups, plan, draw(st.lists(st.integers(0, 6), min_size=stages, max_size=stages)))


def by_the_rule(group, plan, stages=None):
    """The order of one question by a naive implementation, and the last stage that scored each candidate."""
    alive, left = list(range(len(group))), {}
    for stage in range(stages or len(group[0])):
        alive.sort(key=lambda index: (-group[index][stage], index))
        left.update(dict.fromkeys(alive, stage))
        alive = alive[: _surviving(plan[stage], len(alive)) if stage < len(plan) else None]
    return sorted(left, key=lambda index: (-left[index], -group[index][left[index]], index)), left


def _surviving(rule, survivors):
    return min(rule, survivors) if isinstance(rule, int) else survivors - floor(Fraction(rule) * survivors)


class Clock:
    """Time that passes only when a stage works."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now

    @contextmanager
    def ticking(self):
        """Use this clock in the executor."""
        with patch("cascada.ranking.stage.time", self), patch("cascada.ranking.executor.time", self):
            yield self


class SlowStage(TableStage):
    """Takes a thousandth of a second per operation, and checks the deadline before each candidate."""

    def __init__(self, *arguments, clock, **settings):
        super().__init__(*arguments, **settings)
        self.clock = clock

    def work(self, text, deadline):
        deadline.check()
        super().work(text, deadline)
        self.clock.now += int(self.flops(self.tokens[text])) / 1000
