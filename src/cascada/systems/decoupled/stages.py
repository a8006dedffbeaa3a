"""The stages of a decoupled ranker: encode both sides, compare them or join them, run the layers above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from cascada.encoders.late_interaction import ExitZero, best_matches, unit
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.executor import rows_of
from cascada.ranking.stage import Bools, Deadline, Floats, Ints, Pairs, Scored, Stage
from cascada.systems.decoupled.documents import Documents, EncodingStore, encode_side
from cascada.systems.decoupled.engine_protocol import DecoupledEngine
from cascada.systems.decoupled.join import Array, JoinWeights
from cascada.systems.decoupled.state import EncodedSides, JoinedPairs, LSTMInput, PairsInput, SidesInput
from cascada.text.pairs import PairTokens
from cascada.text.sentence_windows import PieceLimit


class SideEncoder:
    """Encodes the questions and documents of pairs, as the first part of the first stage."""

    def __init__(self, engine: DecoupledEngine, documents: Documents) -> None:
        self.engine = engine
        self.documents = documents

    def encode(self, pairs: Pairs, tokens: PairTokens | None, deadline: Deadline) -> tuple[EncodedSides, Scored]:
        """The encodings, and a `Scored` without scores: truncation, lengths and operations.

        Each distinct question and text is encoded, or looked up, once. `tokens` are those of the texts, if exit 0 has
        read them.
        """
        asked = self.engine.tokenizer.question.encode_alone(pairs.questions)
        questions = encode_side(self.engine, asked, deadline, document=False)
        numbers: dict[str, int] = {}
        document_of = np.array([numbers.setdefault(text, len(numbers)) for text in pairs.texts], np.int64)
        if tokens is None or self.documents.store is not None:
            documents = self.documents.lookup(list(numbers), deadline)
        else:
            first = np.unique(document_of, return_index=True)[1]
            documents = self.documents.encode(self.engine.tokenizer.lay_out_documents(tokens, first), deadline)
        truncated = asked.truncated[pairs.owner] | documents.truncated[document_of]
        base = np.zeros(len(pairs), np.float32)
        sides = EncodedSides(questions, documents.arrays, pairs.owner, document_of, base)
        unscored = Scored(
            np.zeros(len(pairs), np.float32),
            truncated=truncated if tokens is None else tokens.truncated,
            tokens=sides.question_lengths + sides.document_lengths,
            extra_flops=self._operations(sides, documents.computed),
        )
        return sides, unscored

    def _operations(self, sides: EncodedSides, computed: Bools) -> Ints:
        """Operations of encoding, (pairs,): of a question or a computed document, counted at its first pair."""
        count = self.engine.flop_counts.tower
        questions = count(sides.question_lengths, document=False)
        documents = np.where(computed[sides.document_of], count(sides.document_lengths, document=True), 0)
        return counted_once(sides.question_of, questions) + counted_once(sides.document_of, documents)


class DecoupledStage:
    """The layers from one exit to the next; in the first stage, `first` is the join.

    Without a store, the layers below the join are run for every candidate, and are the first stage's.
    """

    def __init__(self, sides: SideEncoder, *, first: int, exit: int) -> None:
        self.sides = sides
        self.engine = sides.engine
        self.first = first
        self.exit = exit
        shape = self.engine.shape
        encodes = exit == shape.layer_exits[0] and sides.documents.store is None
        self.layers = exit if encodes else exit - first
        self._last = exit == shape.exits[-1]
        self.limit = PieceLimit(self.engine.tokenizer.document, beside_question=False)
        self.reads_store = sides.documents.store is not None
        self.reads_context = not self.reads_store
        """A context informs a candidate's encoding and is not compared itself. Stored encodings have none."""

    def score(self, pairs: Pairs, state: EncodedSides | JoinedPairs | PairTokens | None, deadline: Deadline) -> Scored:
        unscored = None
        if state is None or isinstance(state, PairTokens):  # what exit 0 read, if there is one
            state, unscored = self.sides.encode(pairs, state, deadline)
        if self.exit == self.engine.shape.join:
            assert isinstance(state, EncodedSides)
            scores, operations = self._compare(state)
            passed_on = replace(state, base=scores) if self.engine.shape.adds_to_cosine else state
            scored = Scored(scores, None if self._last else passed_on, extra_flops=operations)
        else:
            scored = self._joint(state, deadline)
        if unscored is None:
            return scored
        assert unscored.extra_flops is not None
        spent = unscored.extra_flops if scored.extra_flops is None else unscored.extra_flops + scored.extra_flops
        return replace(unscored, scores=scored.scores, state=scored.state, extra_flops=spent)

    def flops(self, tokens: Ints) -> Ints:
        return self.engine.flop_counts.joint(self.first, self.exit, tokens)

    def probability(self, scores: Floats) -> Floats:
        """The softmax of two logits is the sigmoid of their difference, which is the raw score."""
        return sigmoid(scores)

    def _compare(self, state: EncodedSides) -> tuple[Floats, Ints | None]:
        """Scores (pairs,) of the exit at the join, and the operations of comparing; None where they are negligible."""
        weights = self.engine.join_weights
        scale, shift = weights.cosine
        if self.engine.shape.match == "cosine":
            similarity, operations = mean_cosine(state, weights), None
        else:
            similarity = late_interaction(state, weights)
            operations = 2 * weights.question.shape[1] * state.question_lengths * state.document_lengths
        return (scale * similarity + shift).astype(np.float32), operations

    def _joint(self, state: EncodedSides | JoinedPairs, deadline: Deadline) -> Scored:
        """Scores of an exit above the join."""
        pairs, operations = self._pairs_input(state, deadline)
        scores = np.zeros(len(pairs.lengths), np.float32)
        after: list[Array] = [np.empty((0, 0), np.float32)] * len(scores)

        def work(rows: Ints) -> None:
            deadline.check()
            lengths, second = pairs.lengths[rows], pairs.second[rows]
            scores[rows], states = self.engine.joint(self.exit, pairs.padded(rows), lengths, second)
            if states is not None:
                for row, own, length in zip(rows, states, lengths, strict=True):
                    after[row] = own[:length]

        self.engine.run_batches(work, self._batches(pairs.lengths))
        passed_on = None if self._last else JoinedPairs(after, pairs.second, state.base)
        return Scored(scores + state.base, passed_on, extra_flops=operations)

    def _pairs_input(
        self, state: EncodedSides | JoinedPairs, deadline: Deadline
    ) -> tuple[SidesInput | LSTMInput | PairsInput, Ints | None]:
        """The input of the layers of this stage, and the operations of making it; None where they are negligible."""
        if isinstance(state, JoinedPairs):
            return PairsInput(state), None
        if self.engine.shape.interaction != "lstm":
            return SidesInput(self.engine, state), None
        count = self.engine.flop_counts.read_side
        questions = counted_once(state.question_of, count(state.question_lengths, document=False))
        documents = counted_once(state.document_of, count(state.document_lengths, document=True))
        return LSTMInput(self.engine, state, deadline), questions + documents

    def _batches(self, lengths: Ints) -> Iterator[Ints]:
        return shortest_first(lengths, self.engine.budget)


def counted_once(shared: Ints, operations: Ints) -> Ints:
    """Operations (pairs,), counted only at the first pair of each text; `shared` (pairs,) are the texts' numbers."""
    first = np.unique(shared, return_index=True)[1]
    once = np.zeros(len(shared), np.int64)
    once[first] = operations[first]
    return once


def mean_cosine(state: EncodedSides, weights: JoinWeights) -> Floats:
    """The cosine of the mean encodings of each pair, (pairs,)."""
    questions = unit(np.stack([states.mean(0) for states in state.questions]))
    cached = np.stack([states.mean(0, dtype=np.float32) for states in state.documents])
    documents = unit(weights.project_up(cached))  # linear: the projection of the mean is the mean of projections
    cosines: Floats = (questions[state.question_of] * documents[state.document_of]).sum(1)
    return cosines


def late_interaction(state: EncodedSides, weights: JoinWeights) -> Floats:
    """The mean, over a question's own tokens, of the best cosine with any token of the document, (pairs,)."""
    scores = np.zeros(len(state.question_of), np.float32)
    for question, rows in zip(state.questions, rows_of(state.question_of, len(state.questions)), strict=True):
        places, row_of = np.unique(state.document_of[rows], return_inverse=True)  # equal documents score the same
        documents = [weights.project_up(state.documents[place]) for place in places]
        scores[rows] = best_matches(question, documents)[row_of]
    return scores


def stages_of(engine: DecoupledEngine, store: EncodingStore | None = None, *, add: bool = False) -> list[Stage]:
    """The stages of a model; see `Documents` for `store` and `add`."""
    sides = SideEncoder(engine, Documents(engine, store, add=add))
    join, exits = engine.shape.join, engine.shape.layer_exits
    steps = list(pairwise(exits if engine.shape.exit_at_join else (join, *exits)))
    if engine.shape.exit_at_join:
        steps.insert(0, (join, join))
    stages: list[Stage] = [DecoupledStage(sides, first=first, exit=exit) for first, exit in steps]
    return stages if engine.exit_zero is None else [ExitZero(engine.exit_zero, engine.tokenizer), *stages]
