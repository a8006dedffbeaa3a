"""The stages of a decoupled ranker: encode both sides, compare them or join them, run the layers above."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from cascada.encoders.late_interaction import ExitZero, best_matches, unit
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.executor import rows_of
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored, Stage
from cascada.systems.decoupled.documents import (
    DocumentEncodings,
    Documents,
    EncodingStore,
    encode_questions,
    own_states,
    run_part,
)
from cascada.systems.decoupled.engine_protocol import DecoupledEngine
from cascada.systems.decoupled.join import Array
from cascada.systems.decoupled.state import EncodedSides, JoinedPairs, LSTMInput, PairsInput, SidesInput, TowerStates
from cascada.text.pair_arrays import EncodedPairs, PairTokens
from cascada.text.sentence_windows import PieceLimit


class SideEncoder:
    """Encodes the questions and documents of pairs: in the first stage, or, with exits below the join, part by part."""

    def __init__(self, engine: DecoupledEngine, documents: Documents) -> None:
        self.engine = engine
        self.documents = documents
        self.in_parts = bool(engine.shape.tower_exits) and documents.store is None

    def begin(
        self, pairs: Pairs, tokens: PairTokens | None, deadline: Deadline
    ) -> tuple[TowerStates | EncodedSides, Scored]:
        """The encodings of both sides, or of questions alone if the documents are encoded in parts; and a `Scored`
        without scores: truncation, lengths and operations.

        Each distinct question and text is encoded, or looked up, once. `tokens` are those of the texts, if exit 0 has
        read them.
        """
        asked = self.engine.tokenizer.question.encode_alone(pairs.questions)
        questions = encode_questions(self.engine, asked, deadline)
        numbers: dict[str, int] = {}
        document_of = np.array([numbers.setdefault(text, len(numbers)) for text in pairs.texts], np.int64)
        state: TowerStates | EncodedSides
        if self.documents.store is not None:
            found = self.documents.lookup(list(numbers), deadline)
            base = np.zeros(len(pairs), np.float32)
            state = EncodedSides(questions[-1], found.arrays, pairs.owner, document_of, base)
            truncated, lengths, operations = found.truncated, state.document_lengths, self._operations(state, found)
        else:
            read = self._tokens(list(numbers), document_of, tokens)
            context = 0 if read.context is None else read.context[1]
            state = TowerStates(-1, questions, read, {}, pairs.owner, document_of)
            truncated, lengths = read.truncated, (read.lengths - context)[document_of]
            operations = np.zeros(len(pairs), np.int64)
            if not self.in_parts:
                state, operations = self.advance(state, deadline)
        truncated = asked.truncated[pairs.owner] | truncated[document_of] if tokens is None else tokens.truncated
        questions_read = self.engine.flop_counts.tower(asked.lengths[pairs.owner], document=False)
        unscored = Scored(
            np.zeros(len(pairs), np.float32),
            truncated=truncated,
            tokens=asked.lengths[pairs.owner] + lengths,
            extra_flops=counted_once(pairs.owner, questions_read) + operations,
        )
        return state, unscored

    def advance(self, state: TowerStates, deadline: Deadline) -> tuple[TowerStates | EncodedSides, Ints]:
        """Run the next part of the documents' tower; with its operations, (pairs,). The last part gives encodings."""
        part, (first, last) = state.part + 1, self.engine.shape.tower_parts[state.part + 1]
        rows, document_of = np.unique(state.document_of, return_inverse=True)
        before = [state.documents[number] for number in rows.tolist()] if part else None
        states = run_part(self.engine, state.tokens, rows, before, part, deadline)
        lengths = state.tokens.lengths[state.document_of]
        operations = self.engine.flop_counts.tower(lengths, document=True, first=first, last=last)
        spent = counted_once(state.document_of, operations)
        if last < self.engine.shape.join:
            return replace(state, part=part, documents=dict(zip(rows.tolist(), states, strict=True))), spent
        documents: list[Array] = [*own_states(state.tokens, rows, states)]
        base = np.zeros(len(document_of), np.float32)
        return EncodedSides(state.questions[-1], documents, state.question_of, document_of, base), spent

    def _tokens(self, texts: Sequence[str], document_of: Ints, tokens: PairTokens | None) -> EncodedPairs:
        """The token ids of distinct texts; `tokens` are those of each pair, if exit 0 has read them."""
        tokenizer = self.engine.tokenizer
        if tokens is None:
            return tokenizer.document.encode_alone(texts)
        return tokenizer.lay_out_documents(tokens, np.unique(document_of, return_index=True)[1])

    def _operations(self, sides: EncodedSides, encodings: DocumentEncodings) -> Ints:
        """Operations of encoding what was not in the store, (pairs,), counted at a document's first pair."""
        operations = self.engine.flop_counts.tower(sides.document_lengths, document=True)
        return counted_once(sides.document_of, np.where(encodings.computed[sides.document_of], operations, 0))


class DecoupledStage:
    """The layers from one exit to the next; with a store, those above the join.

    Without a store, the layers up to the join are run for every candidate, as part of the stages up to there.
    """

    def __init__(self, sides: SideEncoder, *, first: int, exit: int) -> None:
        self.sides = sides
        self.engine = sides.engine
        self.first = first
        self.exit = exit
        shape = self.engine.shape
        self.reads_store = sides.documents.store is not None
        self.layers = exit - max(first, shape.join) if self.reads_store else exit - first
        self._last = exit == shape.exits[-1]
        self.limit = PieceLimit(self.engine.tokenizer.document, beside_question=False)
        self.reads_context = not self.reads_store
        """A context informs a candidate's encoding and is not compared itself. Stored encodings have none."""

    def score(
        self, pairs: Pairs, state: TowerStates | EncodedSides | JoinedPairs | PairTokens | None, deadline: Deadline
    ) -> Scored:
        unscored, spent = None, np.zeros(len(pairs), np.int64)
        if state is None or isinstance(state, PairTokens):  # what exit 0 read, if there is one
            state, unscored = self.sides.begin(pairs, state, deadline)
            assert unscored.extra_flops is not None
            spent = unscored.extra_flops
        if isinstance(state, TowerStates):
            state, operations = self.sides.advance(state, deadline)
            spent = spent + operations
        if self.exit <= self.engine.shape.join:
            assert not isinstance(state, JoinedPairs)
            scores, compared = self._compare(state)
            passed_on: TowerStates | EncodedSides = state
            if isinstance(state, EncodedSides) and self.engine.shape.adds_to_cosine:
                passed_on = replace(state, base=scores)
            scored = Scored(scores, None if self._last else passed_on, extra_flops=compared)
        else:
            assert not isinstance(state, TowerStates)
            scored = self._joint(state, deadline)
        spent = spent if scored.extra_flops is None else spent + scored.extra_flops
        if unscored is None:
            return replace(scored, extra_flops=spent)
        return replace(unscored, scores=scored.scores, state=scored.state, extra_flops=spent)

    def flops(self, tokens: Ints) -> Ints:
        return self.engine.flop_counts.joint(max(self.first, self.engine.shape.join), self.exit, tokens)

    def probability(self, scores: Floats) -> Floats:
        """The softmax of two logits is the sigmoid of their difference, which is the raw score."""
        return sigmoid(scores)

    def _compare(self, state: TowerStates | EncodedSides) -> tuple[Floats, Ints | None]:
        """Scores (pairs,) of an exit at the join or below it, and the operations of comparing; None where they are
        negligible."""
        weights = self.engine.join_weights
        scale, shift = weights.scaling[self.exit]
        sides = state if isinstance(state, EncodedSides) else compared_sides(state)
        if self.engine.shape.match == "cosine":
            similarity, operations = mean_cosine(sides, weights.project_up), None
        else:
            at_join = isinstance(state, EncodedSides)
            similarity = late_interaction(sides, weights.project_up if at_join else None)
            if at_join and self.engine.shape.match == "both":
                similarity = similarity + np.float32(weights.cosine) * mean_cosine(sides, weights.project_up)
            operations = 2 * weights.question.shape[1] * sides.question_lengths * sides.document_lengths
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


def compared_sides(state: TowerStates) -> EncodedSides:
    """What an exit below the join compares: the states of both sides there, without those of contexts."""
    rows, document_of = np.unique(state.document_of, return_inverse=True)
    documents = own_states(state.tokens, rows, [state.documents[number] for number in rows.tolist()])
    base = np.zeros(len(document_of), np.float32)
    return EncodedSides(state.questions[state.part], [*documents], state.question_of, document_of, base)


def mean_cosine(state: EncodedSides, project_up: Callable[[Array], Floats]) -> Floats:
    """The cosine of the mean encodings of each pair, (pairs,)."""
    questions = unit(np.stack([states.mean(0) for states in state.questions]))
    cached = np.stack([states.mean(0, dtype=np.float32) for states in state.documents])
    documents = unit(project_up(cached))  # linear: the projection of the mean is the mean of projections
    cosines: Floats = (questions[state.question_of] * documents[state.document_of]).sum(1)
    return cosines


def late_interaction(state: EncodedSides, project_up: Callable[[Array], Floats] | None) -> Floats:
    """The mean, over a question's own tokens, of the best cosine with any token of the document, (pairs,)."""
    scores = np.zeros(len(state.question_of), np.float32)
    for question, rows in zip(state.questions, rows_of(state.question_of, len(state.questions)), strict=True):
        places, row_of = np.unique(state.document_of[rows], return_inverse=True)  # equal documents score the same
        documents = [state.documents[place] for place in places]
        scores[rows] = best_matches(question, [*map(project_up, documents)] if project_up else documents)[row_of]
    return scores


def stages_of(engine: DecoupledEngine, store: EncodingStore | None = None, *, add: bool = False) -> list[Stage]:
    """The stages of a model; see `Documents` for `store` and `add`. A store has encodings at the join, so that with one
    there are no exits below it, except exit 0."""
    sides = SideEncoder(engine, Documents(engine, store, add=add))
    exits = [exit for exit in engine.shape.layer_exits if sides.in_parts or exit >= engine.shape.join]
    stages: list[Stage] = [DecoupledStage(sides, first=first, exit=exit) for first, exit in pairwise((0, *exits))]
    return stages if engine.exit_zero is None else [ExitZero(engine.exit_zero, engine.tokenizer), *stages]
