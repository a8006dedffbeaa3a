"""Encodings of documents: read from a store if it has them, else computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cascada.ranking.arrays import shortest_first
from cascada.ranking.stage import NO_DEADLINE, Bools, Deadline, Floats, Ints
from cascada.systems.decoupled.engine_protocol import DecoupledEngine
from cascada.systems.decoupled.join import Array
from cascada.text.pair_arrays import EncodedPairs


class EncodingStore(Protocol):
    """Maps texts to encodings (tokens, width). `cascada.store` has one on disk, `EncodingMemory` is one in memory."""

    def get(self, texts: Sequence[str]) -> Sequence[Array | None]: ...

    def put(self, texts: Sequence[str], arrays: Sequence[Array]) -> None: ...


class EncodingMemory:
    """A store in the memory of this process. When it is full, further encodings are not stored."""

    def __init__(self, capacity: int = 1 << 28) -> None:
        """`capacity` is in bytes."""
        self.free = capacity
        self._encodings: dict[str, Array] = {}

    def get(self, texts: Sequence[str]) -> list[Array | None]:
        return [self._encodings.get(text) for text in texts]

    def put(self, texts: Sequence[str], arrays: Sequence[Array]) -> None:
        for text, array in zip(texts, arrays, strict=True):
            if self.free >= array.nbytes:
                self._encodings[text] = array.copy()  # a view would keep its whole batch in memory
                self.free -= array.nbytes


class DocumentEncoder:
    """The document side of a decoupled ranker, which fills a store."""

    def __init__(self, engine: DecoupledEngine) -> None:
        self.engine = engine
        self.fingerprint = engine.fingerprint
        self.width = engine.width

    def encode(self, texts: Sequence[str]) -> list[Floats]:
        """The encoding of each text, (tokens, width) in float32, as it is stored."""
        return encode_documents(self.engine, texts, NO_DEADLINE)[0]


@dataclass(frozen=True)
class DocumentEncodings:
    """The encodings of some texts, in their order."""

    arrays: list[Array]  # (tokens, width) each
    truncated: Bools  # (texts,)
    computed: Bools  # (texts,): True if it was not in the store


class Documents:
    """Looks encodings up in a store, and computes those that are missing."""

    def __init__(self, engine: DecoupledEngine, store: EncodingStore | None = None, *, add: bool = False) -> None:
        """With `add`, encodings that had to be computed are put into the store."""
        self.engine = engine
        self.store = store
        self.add = add

    def lookup(self, texts: Sequence[str], deadline: Deadline) -> DocumentEncodings:
        """The encodings of distinct texts."""
        stored = list(self.store.get(texts)) if self.store is not None else [None] * len(texts)
        missing = [index for index, array in enumerate(stored) if array is None]
        new_texts = [texts[index] for index in missing]
        new_arrays: list[Array]
        new_arrays, new_truncated = encode_documents(self.engine, new_texts, deadline)
        if self.store is not None and self.add and new_texts:
            self.store.put(new_texts, new_arrays)
            rounded = self.store.get(new_texts)  # a store may round: use what the next call will read
            new_arrays = [array if again is None else again for array, again in zip(new_arrays, rounded, strict=True)]
        truncated, computed = np.zeros(len(texts), bool), np.zeros(len(texts), bool)
        truncated[missing], computed[missing] = new_truncated, True
        computed_arrays = iter(new_arrays)
        arrays = [next(computed_arrays) if array is None else array for array in stored]
        document = self.engine.tokenizer.document
        full = [index for index, array in enumerate(stored) if array is not None and len(array) == document.max_length]
        if full:  # truncated, or exactly that long
            truncated[full] = document.encode_alone([texts[index] for index in full]).truncated
        return DocumentEncodings(arrays, truncated, computed)


def encode_documents(engine: DecoupledEngine, texts: Sequence[str], deadline: Deadline) -> tuple[list[Floats], Bools]:
    """The encoding of each text, (tokens, width), and whether it was truncated, (texts,)."""
    tokens = engine.tokenizer.document.encode_alone(texts)
    return encode_side(engine, tokens, deadline, document=True), tokens.truncated


def encode_side(engine: DecoupledEngine, tokens: EncodedPairs, deadline: Deadline, *, document: bool) -> list[Floats]:
    """Encode texts with the tower of one side: (tokens, width) per document, (tokens, hidden) per question.

    The tokens of a context are read with the text, but only the text's own tokens are compared with a question: else
    a sentence would match a question by its context.
    """
    if not document:
        return encode_questions(engine, tokens, deadline)[-1]
    states: list[Floats] | None = None
    for part in range(len(engine.shape.tower_parts)):
        states = run_part(engine, tokens, np.arange(len(tokens)), states, part, deadline)
    assert states is not None
    return own_states(tokens, np.arange(len(tokens)), states)


def encode_questions(engine: DecoupledEngine, tokens: EncodedPairs, deadline: Deadline) -> list[list[Floats]]:
    """The states of questions, (tokens, hidden) each, after each part of the tower."""
    parts = len(engine.shape.tower_parts)
    encodings: list[list[Floats]] = [[np.empty((0, 0), np.float32)] * len(tokens) for _ in range(parts)]

    def work(rows: Ints) -> None:
        deadline.check()
        ids, mask, _ = tokens.padded(rows, engine.tokenizer.pad_id)
        for after, padded in zip(encodings, engine.question(ids, mask), strict=True):
            for row, states, length in zip(rows, padded, tokens.lengths[rows], strict=True):
                after[row] = states[:length]

    engine.run_batches(work, shortest_first(tokens.lengths, engine.budget))
    return encodings


def run_part(
    engine: DecoupledEngine,
    tokens: EncodedPairs,
    rows: Ints,
    before: Sequence[Floats] | None,
    part: int,
    deadline: Deadline,
) -> list[Floats]:
    """The states of the documents `rows` of `tokens` after one part of the tower, (tokens, hidden or width) each.

    `before` are the states of these documents after the part before; None for the first part. Tokens of contexts are
    still among them: `own_states` leaves them out.
    """
    lengths = tokens.lengths[rows]
    states: list[Floats] = [np.empty((0, 0), np.float32)] * len(rows)

    def work(places: Ints) -> None:
        deadline.check()
        inputs, mask, _ = tokens.padded(rows[places], engine.tokenizer.pad_id)
        if before is not None:
            inputs = np.zeros((*mask.shape, before[0].shape[1]), np.float32)
            inputs[mask] = np.concatenate([before[place] for place in places])
        for place, own in zip(places, engine.document(inputs, mask, part), strict=True):
            states[place] = own[: lengths[place]]

    engine.run_batches(work, shortest_first(lengths, engine.budget))
    return states


def own_states(tokens: EncodedPairs, rows: Ints, states: Sequence[Floats]) -> list[Floats]:
    """The states of the documents `rows` of `tokens` without those of their contexts."""
    if tokens.context is None:
        return list(states)
    start, lengths = tokens.context
    return [np.delete(own, np.s_[start : start + lengths[row]], axis=0) for row, own in zip(rows, states, strict=True)]
