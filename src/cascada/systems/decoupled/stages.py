"""The stages: encodings of both sides, compared by cosine or joined, and the layers above the join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.stage import Bools, Deadline, Floats, Ints, Pairs, Scored, Stage
from cascada.systems.decoupled.documents import Documents, EncodingStore, encoded_side
from cascada.systems.decoupled.parts import Array, DecoupledEngine
from cascada.systems.decoupled.state import Apart, GoOn, Joined, Meet


class Encodings:
    """What the first of the stages does before anything else."""

    def __init__(self, engine: DecoupledEngine, documents: Documents) -> None:
        self.engine = engine
        self.documents = documents

    def of(self, pairs: Pairs, deadline: Deadline) -> tuple[Apart, Scored]:
        """Both sides' encodings, and what there is to tell of the texts; each question and text is looked at once."""
        asked = self.engine.tokenizer.question.encode_alone(pairs.questions)
        questions = encoded_side(self.engine, asked, deadline, document=False)
        places: dict[str, int] = {}
        told = np.array([places.setdefault(text, len(places)) for text in pairs.texts], np.int64)
        found = self.documents.find(list(places), deadline)
        apart = Apart(questions, found.encodings, pairs.owner, told, np.zeros(len(pairs), np.float32))
        about = Scored(
            np.zeros(len(pairs), np.float32),
            truncated=asked.truncated[pairs.owner] | found.truncated[told],
            tokens=apart.question_lengths + apart.document_lengths,
            besides=self._operations(apart, found.computed),
        )
        return apart, about

    def _operations(self, apart: Apart, computed: Bools) -> Ints:
        """Of encoding, (pairs,): each question's count where it comes first, and those of texts that were computed."""
        count = self.engine.arithmetic.tower
        spent = np.zeros(len(apart.asked), np.int64)
        first = np.unique(apart.asked, return_index=True)[1]
        spent[first] += count(apart.question_lengths[first], document=False)
        texts, first = np.unique(apart.told, return_index=True)
        first = first[computed[texts]]
        spent[first] += count(apart.document_lengths[first], document=True)
        return spent


class DecoupledStage:
    """From one exit to the next; `first` is the join in the first stage."""

    def __init__(self, encodings: Encodings, *, first: int, exit: int) -> None:
        self.encodings = encodings
        self.engine = encodings.engine
        self.first = first
        self.exit = exit
        self.layers = exit - first

    def score(self, pairs: Pairs, state: Apart | Joined | None, deadline: Deadline) -> Scored:
        about = None
        if state is None:
            state, about = self.encodings.of(pairs, deadline)
        if self.exit == self.engine.join:
            assert isinstance(state, Apart)
            cosines = self._cosine(state)
            scored = Scored(cosines, replace(state, base=cosines) if self.engine.onto_cosine else state)
        else:
            scored = self._joint(state, deadline)
        if about is None:
            return scored
        return replace(about, scores=scored.scores, state=scored.state)

    def flops(self, tokens: Ints) -> Ints:
        return self.engine.arithmetic.joint(self.first, self.exit, tokens)

    def probability(self, scores: Floats) -> Floats:
        """The softmax of two logits is the sigmoid of their difference, which is the raw score."""
        return sigmoid(scores)

    def _cosine(self, state: Apart) -> Floats:
        meeting = self.engine.meeting
        asked = unit(np.stack([one.mean(0) for one in state.questions]))
        kept = np.stack([one.mean(0, dtype=np.float32) for one in state.documents])
        told = unit(meeting.widened(kept))  # the mean of what is widened is the mean, widened
        scale, shift = meeting.cosine
        cosines: Floats = (asked[state.asked] * told[state.told]).sum(1)
        return (scale * cosines + shift).astype(np.float32)

    def _joint(self, state: Apart | Joined, deadline: Deadline) -> Scored:
        pairs = Meet(self.engine, state) if isinstance(state, Apart) else GoOn(state)
        scores = np.zeros(len(pairs.lengths), np.float32)
        after: list[Array] = [np.empty((0, 0), np.float32)] * len(scores)
        last = self.exit == self.engine.exits[-1]

        def work(rows: Ints) -> None:
            deadline.check()
            lengths, second = pairs.lengths[rows], pairs.second[rows]
            scores[rows], states = self.engine.joint(self.exit, pairs.padded(rows), lengths, second)
            if states is not None:
                for row, own, length in zip(rows, states, lengths, strict=True):
                    after[row] = own[:length]

        self.engine.each(work, self._batches(pairs.lengths))
        return Scored(scores + state.base, None if last else Joined(after, pairs.second, state.base))

    def _batches(self, lengths: Ints) -> Iterator[Ints]:
        return shortest_first(lengths, self.engine.budget)


def unit(vectors: Floats) -> Floats:
    """Of length 1; as torch has it, a vector of zeros stays one."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-8)  # type: ignore[no-any-return]


def stages_of(engine: DecoupledEngine, store: EncodingStore | None = None, *, add: bool = False) -> list[Stage]:
    """A model's stages; documents come from the store where it has them."""
    encodings = Encodings(engine, Documents(engine, store, add=add))
    exits = engine.exits if engine.exits[0] == engine.join else (engine.join, *engine.exits)
    steps = list(pairwise(exits))
    if engine.exits[0] == engine.join:
        steps.insert(0, (engine.join, engine.join))
    return [DecoupledStage(encodings, first=first, exit=exit) for first, exit in steps]
