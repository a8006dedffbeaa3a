"""The encodings of an index: of every sentence, in a store, and of every passage, as one vector.

They lie in the index's folder under `encodings/`: `encodings.json` says whose they are, `sentences/` is a store
(`cascada.store`), `vectors` has a row for each passage that is finished. A question is compared with all vectors to
find passages, and with the stored tokens of their sentences to rank them, so that no passage is read again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write
from cascada.search.candidates import candidate_sentences
from cascada.search.index.layout import passage_key
from cascada.search.index.vectors import Vectors
from cascada.search.passage import Passage
from cascada.systems.decoupled.engine import document_encoder
from cascada.systems.decoupled.pooled import document_vector
from cascada.systems.load import BUNDLED, BUNDLED_FOLDER, folder_of
from cascada.text.context import InContext

if TYPE_CHECKING:
    from cascada.search.index.index import Index
    from cascada.store import Store
    from cascada.systems.decoupled.documents import DocumentEncoder

FORMAT = 1
HEADER = "encodings.json"

PASSAGES_AT_ONCE = 128
"""Passages that are encoded and written together: a kill loses at most this many."""


@dataclass(frozen=True)
class Header:
    """Which ranker's encodings an index has, and how they were made."""

    model: str
    """The name or folder of the ranker."""
    fingerprint: str
    """Of its document side."""
    width: int
    """Of a passage's vector."""
    language: str
    """The language whose rules split passages into sentences."""
    format: int = FORMAT


class Encodings:
    """The encodings in an index's folder."""

    def __init__(self, folder: Path, header: Header) -> None:
        self.folder = folder
        self.header = header
        self.vectors = Vectors(folder / "vectors", header.width)

    @classmethod
    def open(cls, index: Path) -> Encodings | None:
        """The encodings of the index in this folder; None if it has none, or those of another format version."""
        folder = index / "encodings"
        try:
            fields = json.loads((folder / HEADER).read_text(encoding="utf-8"))
            return cls(folder, Header(**fields)) if fields["format"] == FORMAT else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise CascadaError(f"{folder / HEADER} is damaged: remove {folder} and encode the index again.") from error

    @classmethod
    def of(cls, index: Path, model: str, encoder: DocumentEncoder, language: str) -> Encodings:
        """The encodings by this encoder in an index's folder; any others that are there are removed."""
        header = Header(model, encoder.fingerprint, encoder.engine.join_weights.question.shape[1], language)
        present = cls.open(index)
        if present and replace(present.header, model=model) == header:
            return present
        folder = index / "encodings"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        with atomic_write(folder / HEADER) as file:
            json.dump(asdict(header), file)
        return cls(folder, header)

    def encoder(self) -> DocumentEncoder:
        """Load the encoder whose encodings these are."""
        _, encoder = encoder_named(self.header.model)
        if encoder.fingerprint != self.header.fingerprint:
            raise CascadaError(f"{self.header.model} has changed since: `cascada index … --encode` makes them again.")
        return encoder

    @cached_property
    def store(self) -> Store:
        """The encodings of sentences, for reading."""
        from cascada.store import Store

        return Store.open(self.folder / "sentences", fingerprint=self.header.fingerprint)

    def writable_store(self, encoder: DocumentEncoder) -> Store:
        """The encodings of sentences, for writing; created if necessary."""
        from cascada.store import store_for

        return store_for(encoder, self.folder / "sentences")


def encoder_named(model: str | Path | None) -> tuple[str, DocumentEncoder]:
    """A ranker's name that is valid in every working folder, and its document side; by default the bundled ranker's."""
    folder = folder_of(str(model or BUNDLED))
    encoder = document_encoder(folder)
    if not encoder.engine.shape.exit_at_join:
        raise CascadaError(
            f"{model} has no exit at its join: its encodings cannot be compared with a question's, so not searched."
        )
    return BUNDLED if folder == BUNDLED_FOLDER else str(folder.resolve()), encoder


def encode(
    index: Index, encodings: Encodings, encoder: DocumentEncoder, *, advance: Callable[[int], object] = lambda _: None
) -> int:
    """Encode every passage of the index that has no vector yet; return how many there were.

    A sentence is in the store before the vector of its passage is written, so that the same call resumes after a kill.
    `advance` is called with the number of passages that are finished, those of earlier calls first.
    """
    store = encodings.writable_store(encoder)
    finished = set(encodings.vectors.keys())
    live = {passage_key(passage): passage for passage in index.passages()}
    if len(finished - live.keys()) > len(live):
        _remove_dead(encodings, store, live)
    missing = [passage for key, passage in live.items() if key not in finished]
    advance(len(live) - len(missing))
    for window in _windows(missing):
        texts = [_sentences(passage, encodings.header.language) for passage in window]
        new = store.missing(text for own in texts for text in own)
        if new:
            store.put(new, encoder.encode(new))
        vectors = [document_vector(encoder.engine, _present(store, own)) for own in texts]
        encodings.vectors.append([passage_key(passage) for passage in window], np.stack(vectors))
        advance(len(window))
    return len(missing)


def _sentences(passage: Passage, language: str) -> list[str]:
    """The candidates of a passage for any question, as a ranker reads them."""
    return [InContext(**candidate.to_rank()) for candidate in candidate_sentences("", [passage], language=language)]


def _present(store: Store, texts: Sequence[str]) -> list[np.ndarray]:
    return [encoding for encoding in store.get(texts) if encoding is not None]


def _windows(passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    remaining = iter(passages)
    while window := list(islice(remaining, PASSAGES_AT_ONCE)):
        yield window


def _remove_dead(encodings: Encodings, store: Store, live: dict[bytes, Passage]) -> None:
    """Remove what belongs to passages that are no longer in the index, and give the space back."""
    from cascada.store import key_of

    encodings.vectors.retain(set(live))
    language = encodings.header.language
    wanted = {key_of(text) for passage in live.values() for text in _sentences(passage, language)}
    store.remove([key for key in store.walk(lambda key, _: key) if key not in wanted])
    store.compact()
