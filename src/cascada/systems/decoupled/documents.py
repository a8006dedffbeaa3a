"""Documents' encodings: read from a store where it has them, else computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cascada.ranking.arrays import shortest_first
from cascada.ranking.stage import NO_DEADLINE, Bools, Deadline, Floats
from cascada.systems.decoupled.parts import Array, DecoupledEngine
from cascada.text.pairs import EncodedPairs


class EncodingStore(Protocol):
    """Where encodings are kept, (tokens, width) for each text; `cascada.store` has one, a dictionary would do."""

    def get(self, texts: Sequence[str]) -> Sequence[Array | None]: ...

    def put(self, texts: Sequence[str], arrays: Sequence[Array]) -> None: ...


class EncodingMemory:
    """A store that ends with the process, and takes nothing more when it is full."""

    def __init__(self, room: int = 1 << 28) -> None:
        """`room` is in bytes."""
        self.room = room
        self._kept: dict[str, Array] = {}

    def get(self, texts: Sequence[str]) -> list[Array | None]:
        return [self._kept.get(text) for text in texts]

    def put(self, texts: Sequence[str], arrays: Sequence[Array]) -> None:
        for text, array in zip(texts, arrays, strict=True):
            if self.room >= array.nbytes:
                self._kept[text] = array.copy()  # not the whole batch that it is a view of
                self.room -= array.nbytes


class DocumentEncoder:
    """The document side of a decoupled ranker: what fills a store."""

    def __init__(self, engine: DecoupledEngine) -> None:
        self.engine = engine
        self.fingerprint = engine.fingerprint
        self.width = engine.width

    def encode(self, texts: Sequence[str]) -> list[Floats]:
        """What is to be stored of each text: (tokens, width) in float32."""
        return encoded_documents(self.engine, texts, NO_DEADLINE)[0]


@dataclass(frozen=True)
class Found:
    """Encodings of some texts, in their order."""

    encodings: list[Array]  # (tokens, width) each
    truncated: Bools  # (texts,)
    computed: Bools  # (texts,): were not in the store


class Documents:
    """Looks encodings up, and computes those that are not there."""

    def __init__(self, engine: DecoupledEngine, store: EncodingStore | None = None, *, add: bool = False) -> None:
        """With `add`, what had to be computed is put into the store."""
        self.engine = engine
        self.store = store
        self.add = add

    def find(self, texts: Sequence[str], deadline: Deadline) -> Found:
        """`texts` are all different."""
        stored = list(self.store.get(texts)) if self.store is not None else [None] * len(texts)
        missing = [place for place, one in enumerate(stored) if one is None]
        wanted = [texts[place] for place in missing]
        arrays: list[Array]
        arrays, cut = encoded_documents(self.engine, wanted, deadline)
        if self.store is not None and self.add and wanted:
            self.store.put(wanted, arrays)
            kept = self.store.get(wanted)  # as it will be the next time: a store may round
            arrays = [now if later is None else later for now, later in zip(arrays, kept, strict=True)]
        truncated, computed = np.zeros(len(texts), bool), np.zeros(len(texts), bool)
        truncated[missing], computed[missing] = cut, True
        found: list[Array] = []
        fresh = iter(arrays)
        for place, one in enumerate(stored):
            found.append(next(fresh) if one is None else one)
            if one is not None and len(one) == self.engine.tokenizer.document.max_length:  # it may just have fitted
                truncated[place] = self.engine.tokenizer.document.encode_alone([texts[place]]).truncated[0]
        return Found(found, truncated, computed)


def encoded_documents(engine: DecoupledEngine, texts: Sequence[str], deadline: Deadline) -> tuple[list[Floats], Bools]:
    """Each text's encoding, and whether it was cut."""
    tokens = engine.tokenizer.document.encode_alone(texts)
    return encoded_side(engine, tokens, deadline, document=True), tokens.truncated


def encoded_side(engine: DecoupledEngine, tokens: EncodedPairs, deadline: Deadline, *, document: bool) -> list[Floats]:
    """Texts of one side, each (tokens, width), by the tower of that side."""
    found: list[Floats] = [np.empty((0, 0), np.float32)] * len(tokens)
    tower = engine.document if document else engine.question

    def work(rows: np.ndarray) -> None:
        deadline.check()
        ids, mask, _ = tokens.padded(rows, engine.tokenizer.pad_id)
        for row, states, length in zip(rows, tower(ids, mask), tokens.lengths[rows], strict=True):
            found[row] = states[:length]

    engine.each(work, shortest_first(tokens.lengths, engine.budget))
    return found
