"""Text and Markdown, unchanged: offsets count the characters of the file itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cascada.core.errors import DataError
from cascada.search.passage import Document


def read(path: Path) -> Iterator[Document]:
    # Newlines and a byte order mark are left as they are: replacing either would shift all offsets after it.
    yield Document(str(path), read_text(path), "lines")


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, character for character."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError.at(path, line, "not UTF-8 text; save the file as UTF-8.") from None
    if not text.strip("\ufeff \t\r\n\f"):
        raise DataError(f"{path} is empty.")
    return text
