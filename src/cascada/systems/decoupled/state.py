"""What the stages hand on: both sides' encodings before they meet, or each pair's states after; and batches of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cascada.ranking.stage import Floats, Ints
from cascada.systems.decoupled.parts import Array, DecoupledEngine


@dataclass(frozen=True)
class Apart:
    """Both sides' encodings before they meet; a question or a document that several pairs share is there once."""

    questions: list[Floats]  # (tokens, hidden) each
    documents: list[Array]  # (tokens, width) each
    asked: Ints  # (pairs,)
    told: Ints  # (pairs,)
    base: Floats  # (pairs,): what is added to the scores of all exits above the join

    def take(self, rows: Ints) -> Apart:
        return replace(self, asked=self.asked[rows], told=self.told[rows], base=self.base[rows])

    @property
    def question_lengths(self) -> Ints:
        return np.array([len(one) for one in self.questions], np.int64)[self.asked]

    @property
    def document_lengths(self) -> Ints:
        return np.array([len(one) for one in self.documents], np.int64)[self.told]


@dataclass(frozen=True)
class Joined:
    """Each pair's states after an exit, (tokens, hidden), and where its document begins."""

    states: list[Array]
    second: Ints  # (pairs,)
    base: Floats  # (pairs,)

    def take(self, rows: Ints) -> Joined:
        return Joined([self.states[row] for row in rows], self.second[rows], self.base[rows])


class Meet:
    """Pairs whose sides are put side by side, with global positions and types."""

    def __init__(self, engine: DecoupledEngine, state: Apart) -> None:
        self.engine = engine
        self.state = state
        self.questions = [engine.meeting.placed_question(self._read(one)) for one in state.questions]
        self.second = np.array([len(one) for one in self.questions], np.int64)[state.asked]
        told = np.ones_like(state.told) if engine.first_only else state.document_lengths
        self.lengths = self.second + told

    def padded(self, rows: Ints) -> Floats:
        """(rows, longest, hidden)."""
        hidden = self.engine.meeting.question.shape[1]
        states = np.zeros((len(rows), int(self.lengths[rows].max()), hidden), np.float32)
        for own, row in zip(states, rows, strict=True):
            begins, ends = self.second[row], self.lengths[row]
            own[:begins] = self.questions[self.state.asked[row]]
            document = self._read(self.state.documents[self.state.told[row]])
            own[begins:ends] = self.engine.meeting.placed_document(document)
        return states

    def _read(self, side: Array) -> Array:
        return side[:1] if self.engine.first_only else side


class GoOn:
    """Pairs that met before."""

    def __init__(self, state: Joined) -> None:
        self.state = state
        self.second = state.second
        self.lengths = np.array([len(one) for one in state.states], np.int64)

    def padded(self, rows: Ints) -> Array:
        """(rows, longest, hidden)."""
        one = self.state.states[rows[0]]
        states = np.zeros((len(rows), int(self.lengths[rows].max()), one.shape[1]), one.dtype)
        for own, row in zip(states, rows, strict=True):
            own[: self.lengths[row]] = self.state.states[row]
        return states
