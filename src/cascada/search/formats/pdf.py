"""PDF: the text, with a form feed between pages."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from cascada.core.errors import DataError, first_line
from cascada.search.passage import Document

_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_A-Z])")
"""`docu-⏎ment`. A compound broken at its own hyphen loses the hyphen; hyphenated single words are far more common."""


def read(path: Path) -> Iterator[Document]:
    pages = [_BROKEN_WORD.sub("", page.replace("\f", " ").strip()) for page in _pages(path)]
    if not any(pages):
        raise DataError(f"{path} has no text to read; if it is a scan, run character recognition first.")
    yield Document(str(path), "\f".join(pages), "pages")


def _pages(path: Path) -> list[str]:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs every irregularity that it copes with
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError(f"{path} cannot be read: it is protected by a password.")
        return [page.extract_text() for page in reader.pages]
    except DataError:
        raise
    except Exception as error:  # a damaged file can raise any of Python's errors
        reason = first_line(error) or type(error).__name__
        raise DataError(f"{path} cannot be read as PDF: {reason.rstrip('.')}.") from error
