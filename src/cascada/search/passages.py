"""What is searched: documents, and the passages of them that a search engine finds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from cascada.text.sentences import sentences


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


LONGEST = 2000
"""Characters of a passage, some 300 words. Longer paragraphs, such as a PDF's pages, are cut between sentences."""


LONGEST_HEADING = 100


_BREAK = re.compile(r"\n(?:[^\S\n]*\n)+|\f")


_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*$")


Span = tuple[int, int]


def passages(document: Document) -> Iterator[Passage]:
    """In order, each with its place. A heading goes with the paragraph after it, a list's lines with each other."""
    line = page = 1
    counted = 0
    text = document.text
    for block in _joined(text, _blocks(text)):
        for start, end in _cut(text, block):
            line += text.count("\n", counted, start)
            page += text.count("\f", counted, start)
            counted = start
            yield Passage(
                text[start:end],
                document.name,
                start,
                end,
                line=line if document.counted == "lines" else None,
                page=page if document.counted == "pages" else None,
            )


def _blocks(text: str) -> Iterator[Span]:
    """What stands between empty lines and page ends."""
    start = 0
    for gap in _BREAK.finditer(text):
        yield from _trimmed(text, start, gap.start())
        start = gap.end()
    yield from _trimmed(text, start, len(text))


def _joined(text: str, blocks: Iterable[Span]) -> Iterator[Span]:
    first: int | None = None
    end = 0
    for start, end in blocks:
        first = start if first is None else first
        if not (end - first < LONGEST and _is_heading(text[start:end])):
            yield first, end
            first = None
    if first is not None:
        yield first, end


def _is_heading(block: str) -> bool:
    return len(block) <= LONGEST_HEADING and "\n" not in block and not _ENDED.search(block)


def _cut(text: str, block: Span) -> Iterator[Span]:
    """The block, or as many whole sentences at a time as fit."""
    start, end = block
    if end - start <= LONGEST:
        yield block
        return
    first, last = start, start
    for piece, piece_end in _pieces(text, block):
        if piece_end - first > LONGEST and last > first:
            yield first, last
            first = piece
        last = piece_end
    yield first, last


def _pieces(text: str, block: Span) -> Iterator[Span]:
    """Sentences; one that is too long itself is cut at its last space in reach."""
    start, end = block
    for sentence in sentences(text[start:end]):
        first, last = start + sentence.start, start + sentence.end
        while last - first > LONGEST:
            space = text.rfind(" ", first + 1, first + LONGEST)
            cut = space if space > first else first + LONGEST
            yield from _trimmed(text, first, cut)
            first = cut
        yield from _trimmed(text, first, last)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    """Without the white space around it, or a byte order mark before it; nothing if nothing is left."""
    part = text[start:end]
    start += len(part) - len(part.lstrip().removeprefix("\ufeff").lstrip())
    words = text[start:end].rstrip()
    if words:
        yield start, start + len(words)
