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
from cascada.text.pairs import EncodedPairs


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

    def encode(self, tokens: EncodedPairs, deadline: Deadline) -> DocumentEncodings:
        """The encodings of texts that are tokenised already; no store is asked."""
        arrays: list[Array] = [*encode_side(self.engine, tokens, deadline, document=True)]
        return DocumentEncodings(arrays, tokens.truncated, np.ones(len(tokens), bool))


def encode_documents(engine: DecoupledEngine, texts: Sequence[str], deadline: Deadline) -> tuple[list[Floats], Bools]:
    """The encoding of each text, (tokens, width), and whether it was truncated, (texts,)."""
    tokens = engine.tokenizer.document.encode_alone(texts)
    return encode_side(engine, tokens, deadline, document=True), tokens.truncated


def encode_side(engine: DecoupledEngine, tokens: EncodedPairs, deadline: Deadline, *, document: bool) -> list[Floats]:
    """Encode texts with the tower of one side: (tokens, width) per document, (tokens, hidden) per question.

    The tokens of a context are read with the text, but only the text's own tokens are compared with a question: else
    a sentence would match a question by what stands before it.
    """
    encodings: list[Floats] = [np.empty((0, 0), np.float32)] * len(tokens)
    tower = engine.document if document else engine.question

    def own_states(states: Floats, row: int) -> Floats:
        assert tokens.context is not None
        start, lengths = tokens.context
        return np.delete(states, np.s_[start : start + lengths[row]], axis=0)

    def work(rows: Ints) -> None:
        deadline.check()
        ids, mask, _ = tokens.padded(rows, engine.tokenizer.pad_id)
        for row, states, length in zip(rows, tower(ids, mask), tokens.lengths[rows], strict=True):
            encodings[row] = states[:length] if tokens.context is None else own_states(states[:length], row)

    engine.run_batches(work, shortest_first(tokens.lengths, engine.budget))
    return encodings
