"""What stands in an index's folder: a file that says which version made it, and tantivy's own files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import tantivy

from cascada.data.atomic import written
from cascada.errors import CascadaError, first_line
from cascada.search.passage import Passage
from cascada.text.words import words

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
    with written(folder / MARKER) as file:
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
