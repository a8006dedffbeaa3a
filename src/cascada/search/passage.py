"""What is searched: documents, and the passages of them that a search engine finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Document:
    """A text under a name."""

    name: str
    text: str
    counted: Literal["lines", "pages"] | None = None
    """What a reader finds a place in it by: lines of a text file, pages (divided by form feeds) of a PDF."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph or so of a document: what a `Retriever` finds."""

    text: str
    document: str
    """The document's name: the path of its file, for a line of a JSONL file with the line or its id."""
    start: int
    end: int
    """Characters of the document's text: `text[start:end]` is the passage."""
    score: float = 0.0
    """How well it fits the question; higher is better, whatever the scale."""
    line: int | None = None
    """The line of the file it starts in, from 1; None where lines mean nothing."""
    page: int | None = None
    """The page it starts on, from 1; None where there are no pages."""

    def line_at(self, offset: int) -> int | None:
        """The line of the file for a character of the passage."""
        return None if self.line is None else self.line + self.text.count("\n", 0, offset)

    def page_at(self, offset: int) -> int | None:
        """The page for a character of the passage."""
        return None if self.page is None else self.page + self.text.count("\f", 0, offset)
