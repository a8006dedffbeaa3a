"""What the stages pass on: the states of both sides up to the join, the states of each pair above it.

`SidesInput` and `PairsInput` make padded batches for the next interaction layers out of the two, `LSTMInput` for the
classifier above an LSTM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cascada.ranking.arrays import shortest_first
from cascada.ranking.stage import Deadline, Floats, Ints
from cascada.systems.decoupled.engine_protocol import DecoupledEngine
from cascada.systems.decoupled.join import Array
from cascada.text.pair_arrays import EncodedPairs


@dataclass(frozen=True)
class TowerStates:
    """Both sides after a part of the towers that ends at an exit below the join; no text is stored twice."""

    part: int
    """The part that was run last; -1 if it is none yet."""
    questions: list[list[Floats]]
    """Of each part, (tokens, hidden) of each question: questions are encoded to the join at once."""
    tokens: EncodedPairs
    """Of the documents."""
    documents: dict[int, Floats]
    """Number of a document → its states (tokens, hidden), with those of its context."""
    question_of: Ints  # (pairs,): the number of each pair's question
    document_of: Ints  # (pairs,): the number of each pair's document

    def take(self, rows: Ints) -> TowerStates:
        own = self.document_of[rows]
        documents = {number: self.documents[number] for number in np.unique(own).tolist()}
        return replace(self, documents=documents, question_of=self.question_of[rows], document_of=own)


@dataclass(frozen=True)
class EncodedSides:
    """Encodings before the join; a question or document that several pairs share is stored once."""

    questions: list[Floats]  # (tokens, hidden) each
    documents: list[Array]  # (tokens, width) each
    question_of: Ints  # (pairs,): the number of each pair's question
    document_of: Ints  # (pairs,): the number of each pair's document
    base: Floats  # (pairs,): added to the scores of all exits above the join

    def take(self, rows: Ints) -> EncodedSides:
        return replace(
            self, question_of=self.question_of[rows], document_of=self.document_of[rows], base=self.base[rows]
        )

    @property
    def question_lengths(self) -> Ints:
        """(pairs,)"""
        return np.array([len(states) for states in self.questions], np.int64)[self.question_of]

    @property
    def document_lengths(self) -> Ints:
        """(pairs,)"""
        return np.array([len(states) for states in self.documents], np.int64)[self.document_of]


@dataclass(frozen=True)
class JoinedPairs:
    """The states of each pair after an exit above the join."""

    states: list[Array]  # (tokens, hidden) each
    second: Ints  # (pairs,): the position of the document's first token
    base: Floats  # (pairs,): added to the scores of all exits above the join

    def take(self, rows: Ints) -> JoinedPairs:
        return JoinedPairs([self.states[row] for row in rows], self.second[rows], self.base[rows])


class SidesInput:
    """Joins encoded sides into the input of the first interaction layer, with global positions and types."""

    def __init__(self, engine: DecoupledEngine, state: EncodedSides) -> None:
        self.join_weights = engine.join_weights
        self.first_only = engine.shape.interaction == "linear"  # which reads no other token
        self.state = state
        self.questions = [self.join_weights.place_question(self._read(states)) for states in state.questions]
        self.second = np.array([len(states) for states in self.questions], np.int64)[state.question_of]
        self.lengths = self.second + (1 if self.first_only else state.document_lengths)

    def padded(self, rows: Ints) -> Floats:
        """(rows, longest, hidden)"""
        hidden = self.join_weights.question.shape[1]
        states = np.zeros((len(rows), int(self.lengths[rows].max()), hidden), np.float32)
        for own, row in zip(states, rows, strict=True):
            second, length = self.second[row], self.lengths[row]
            own[:second] = self.questions[self.state.question_of[row]]
            document = self._read(self.state.documents[self.state.document_of[row]])
            own[second:length] = self.join_weights.place_document(document)
        return states

    def _read(self, side: Array) -> Array:
        return side[:1] if self.first_only else side


class LSTMInput:
    """Reads each question and each document with the LSTM once, however many pairs share it, and compares them.

    The input of the classifier is two vectors for each pair: the question's, and the best values of the comparison.
    """

    def __init__(self, engine: DecoupledEngine, state: EncodedSides, deadline: Deadline) -> None:
        weights = engine.join_weights
        self.state = state
        self.questions = _read(engine, state.questions, state.question_of, weights.place_question, deadline, False)
        self.documents = _read(engine, state.documents, state.document_of, weights.place_document, deadline, True)
        self.second = np.ones(len(state.question_of), np.int64)
        self.lengths = self.second + 1

    def padded(self, rows: Ints) -> Floats:
        """(rows, 2, hidden)"""
        states = []
        for question, document in zip(self.state.question_of[rows], self.state.document_of[rows], strict=True):
            summed, compared = self.questions[question]
            states.append((summed, (self.documents[document] * compared).max(0)))
        return np.array(states, np.float32)


def _read(
    engine: DecoupledEngine,
    texts: Sequence[Array],
    used: Ints,
    place: Callable[[Array], Floats],
    deadline: Deadline,
    document: bool,
) -> dict[int, Floats]:
    """Number of a text → what the LSTM reads in it; of the texts that are `used`."""
    numbers = np.unique(used)
    lengths = np.array([len(texts[number]) for number in numbers], np.int64)
    outputs: dict[int, Floats] = {}

    def work(rows: Ints) -> None:
        deadline.check()
        states = _padded([place(texts[number]) for number in numbers[rows]])
        for number, own, length in zip(
            numbers[rows], engine.read_side(states, lengths[rows], document=document), lengths[rows], strict=True
        ):
            outputs[int(number)] = own[:length] if document else own

    engine.run_batches(work, shortest_first(lengths, engine.budget))
    return outputs


def _padded(states: Sequence[Array]) -> Array:
    """(texts, longest, hidden), with zeros after the end of a text."""
    padded = np.zeros((len(states), max(map(len, states)), states[0].shape[1]), states[0].dtype)
    for own, text in zip(padded, states, strict=True):
        own[: len(text)] = text
    return padded


class PairsInput:
    """Makes joined pairs the input of the next interaction layer."""

    def __init__(self, state: JoinedPairs) -> None:
        self.state = state
        self.second = state.second
        self.lengths = np.array([len(states) for states in state.states], np.int64)

    def padded(self, rows: Ints) -> Array:
        """(rows, longest, hidden)"""
        return _padded([self.state.states[row] for row in rows])
