"""What an index has on disk: a marker with its format version, tantivy's files, and in them passages and file records.

A file's record tells whether the file has changed since it was indexed. It is stored with the file's last passage, so
that tantivy commits text and record together or not at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import tantivy

from cascada.core.errors import CascadaError, DataError, first_line
from cascada.core.files import atomic_write
from cascada.search.candidates import heading_of
from cascada.search.formats import status
from cascada.search.passage import Passage, document_id
from cascada.text.words import words

FORMAT = 2
"""Version of the fields below and of the way words are divided. An index of another version is rejected."""

MARKER = "cascada-index.json"


@dataclass(frozen=True)
class FileRecord:
    """A file as it was when it was indexed."""

    path: str
    """Absolute, so that the index can be asked from any folder."""
    size: int
    modified: int
    """Nanoseconds."""
    hash: str = ""
    passages: int = 0

    @classmethod
    def of(cls, path: Path) -> FileRecord:
        """A file as it is now, without reading its content."""
        now = status(path)
        return cls(str(path), now.st_size, now.st_mtime_ns)

    def looks_like(self, other: FileRecord | None) -> bool:
        """Whether size and modification time are the same."""
        return other is not None and (self.size, self.modified) == (other.size, other.modified)

    def hashed(self) -> FileRecord:
        """The record with a hash of the content, which shows whether a touched or copied file has changed."""
        try:
            with open(self.path, "rb") as file:
                return replace(self, hash=hashlib.file_digest(file, "blake2b").hexdigest()[:32])
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}.") from error

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()


@contextmanager
def searching(folder: Path) -> Iterator[None]:
    """Search or read an index within the block; errors from damaged files are raised as a CascadaError.

    Tantivy does not verify checksums when it reads: at damaged bytes it raises a ValueError, or panics.
    """
    try:
        yield
    except CascadaError:
        raise
    except BaseException as error:
        damage = isinstance(error, (ValueError, LookupError, TypeError, OSError))
        if not damage and type(error).__name__ != "PanicException":  # a BaseException, and not importable
            raise
        raise CascadaError(
            f"The index {folder} is damaged: remove it, and make it again with `cascada index FOLDER {folder}`."
        ) from error


def schema() -> tantivy.Schema:
    """The fields of a passage in the index."""
    builder = tantivy.SchemaBuilder()
    # Words as `cascada.text.words` divides them, so that the index and `MemoryRetriever` agree on what a word is.
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="position")
    builder.add_bytes_field("passage", stored=True, indexed=False)
    builder.add_text_field("file", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("last", indexed=True)  # 1 in a file's last passage, which carries the record
    builder.add_bytes_field("record", stored=True, indexed=False)
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")  # under which its vector is stored
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    return builder.build()


def passage_key(passage: Passage) -> bytes:
    """A hash of all that a passage's encoding depends on, 16 bytes: its text and the context of its sentences."""
    read = f"{heading_of(passage)}\0{passage.text}"
    return hashlib.blake2b(read.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def entry_of(passage: Passage, file: str) -> tantivy.Document:
    """A passage as tantivy indexes it, under the key of its file."""
    fields = asdict(passage)
    del fields["score"]
    entry = tantivy.Document()
    entry.add_text("words", " ".join(words(passage.text)))
    entry.add_bytes("passage", json.dumps(fields).encode())
    entry.add_text("file", file)
    entry.add_text("key", passage_key(passage).hex())
    entry.add_text("document", document_id(passage.document))
    return entry


def add_record(entry: tantivy.Document, record: FileRecord) -> None:
    """Mark a file's last passage, and store the file's record with it."""
    entry.add_unsigned("last", 1)
    entry.add_bytes("record", record.to_bytes())


def passage_of(entry: tantivy.Document, score: float) -> Passage:
    """The passage in an entry that was found."""
    return Passage(score=score, **json.loads(bytes(entry.get_first("passage"))))  # type: ignore[arg-type]


def record_of(entry: tantivy.Document) -> FileRecord:
    """The file record in a file's last passage."""
    return FileRecord(**json.loads(bytes(entry.get_first("record"))))  # type: ignore[arg-type]


def is_index(folder: Path) -> bool:
    """Whether a folder is an index."""
    return (folder / MARKER).is_file()


def create_index(folder: Path) -> None:
    """Make an empty index, unless there is one. A folder with other files in it is rejected."""
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


def open_index(folder: Path) -> tantivy.Index:
    """Open the index in a folder."""
    if not is_index(folder):
        reason = "is not an index" if folder.exists() else "does not exist"
        raise CascadaError(f"{folder} {reason}: make one with `cascada index FOLDER {folder}`.")
    _check_format(folder)
    try:
        return tantivy.Index(schema(), str(folder))  # creates its files if a kill came right after the marker
    except (ValueError, OSError) as error:
        raise CascadaError(f"The index {folder} cannot be opened: {first_line(error)}. Make it again.") from error


def _check_format(folder: Path) -> None:
    try:
        version = json.loads((folder / MARKER).read_text(encoding="utf-8"))["format"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CascadaError(f"{folder / MARKER} is damaged: remove the folder and make the index again.") from error
    if version != FORMAT:
        raise CascadaError(
            f"The index {folder} was made by another version of Cascada (format {version}, this one reads {FORMAT}): "
            "remove the folder and make the index again."
        )
