"""What the index remembers of a file, to see whether it has changed."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import tantivy

from cascada.core.errors import CascadaError, DataError, first_line
from cascada.core.files import atomic_write
from cascada.search.formats import status
from cascada.search.passages import Passage
from cascada.text.words import words


@dataclass(frozen=True)
class FileRecord:
    """A file as it was when it was read."""

    path: str
    """Absolute, so that the index may be asked from anywhere."""
    size: int
    modified: int
    """Nanoseconds."""
    hash: str = ""
    passages: int = 0

    @classmethod
    def of(cls, path: Path) -> FileRecord:
        """As it is now, without a look inside."""
        found = status(path)
        return cls(str(path), found.st_size, found.st_mtime_ns)

    def looks_like(self, other: FileRecord | None) -> bool:
        """Whether size and time say that it is unchanged."""
        return other is not None and (self.size, self.modified) == (other.size, other.modified)

    def hashed(self) -> FileRecord:
        """With what is in the file, for one that was only touched, or copied."""
        try:
            with open(self.path, "rb") as file:
                return replace(self, hash=hashlib.file_digest(file, "blake2b").hexdigest()[:32])
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}.") from error

    def to_bytes(self) -> bytes:
        """As the index holds it."""
        return json.dumps(asdict(self)).encode()


def key(path: str) -> str:
    """What a file's passages are found by again; a file's name itself need not be text."""
    return hashlib.blake2b(os.fsencode(path), digest_size=16).hexdigest()


FORMAT = 1
"""Of the fields below and of how words are counted; an index of another one is made anew."""


MARKER = "cascada-index.json"


def schema() -> tantivy.Schema:
    """An index's fields."""
    builder = tantivy.SchemaBuilder()
    # The words as `cascada.text.words` has them, so that this index and the one in memory agree on what a word is.
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="position")
    builder.add_bytes_field("passage", stored=True, indexed=False)
    builder.add_text_field("file", tokenizer_name="raw", index_option="basic")
    # A file's last passage carries the file's record: text and record are then committed together or not at all.
    builder.add_unsigned_field("last", indexed=True)
    builder.add_bytes_field("record", stored=True, indexed=False)
    return builder.build()


def entry(passage: Passage, file: str) -> tantivy.Document:
    """A passage as it is indexed, under the key of its file."""
    fields = asdict(passage)
    del fields["score"]
    found = tantivy.Document()
    found.add_text("words", " ".join(words(passage.text)))
    found.add_bytes("passage", json.dumps(fields).encode())
    found.add_text("file", file)
    return found


def passage_of(found: tantivy.Document, score: float) -> Passage:
    """A passage that was found, with its score."""
    return Passage(score=score, **json.loads(bytes(found.get_first("passage"))))  # type: ignore[arg-type]


def is_index(folder: Path) -> bool:
    """Whether a folder is one."""
    return (folder / MARKER).is_file()


def make(folder: Path) -> None:
    """An empty index, unless there is one. What is in the folder already is left alone: it may be somebody's work."""
    if is_index(folder):
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.iterdir())
    except OSError as error:
        raise CascadaError(f"The index {folder} cannot be made: {error.strerror}.") from error
    if occupied:
        raise CascadaError(f"{folder} is not an index and not empty: give the index a folder of its own.")
    with atomic_write(folder / MARKER) as file:
        json.dump({"format": FORMAT}, file)


def opened(folder: Path) -> tantivy.Index:
    """The index in a folder, refused if this version cannot read it."""
    if not is_index(folder):
        reason = "is not an index" if folder.exists() else "does not exist"
        raise CascadaError(f"{folder} {reason}: make one with `cascada index FOLDER {folder}`.")
    _check_format(folder)
    try:
        return tantivy.Index(schema(), str(folder))  # made if a kill came right after the marker
    except (ValueError, OSError) as error:
        raise CascadaError(f"The index {folder} cannot be opened: {first_line(error)}. Make it again.") from error


def _check_format(folder: Path) -> None:
    try:
        found = json.loads((folder / MARKER).read_text(encoding="utf-8"))["format"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CascadaError(f"{folder / MARKER} is damaged: remove the folder and make the index again.") from error
    if found != FORMAT:
        raise CascadaError(
            f"The index {folder} was made by another version of Cascada (format {found}, this one reads {FORMAT}): "
            "remove the folder and make the index again."
        )
