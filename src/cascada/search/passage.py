"""What is searched: documents, and the passages that they are divided into."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from cascada.text.sentences import sentences

MAX_LENGTH = 2000
"""Characters of a passage, about 300 words. Longer paragraphs, such as a PDF's pages, are cut between sentences."""


MAX_HEADING = 100
"""Characters of a heading."""


_BREAK = re.compile(r"\n(?:[^\S\n]*\n)+|\f")


_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*$")


Offsets = tuple[int, int]
"""First character, and the one after the last."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name."""

    name: str
    text: str
    located_by: Literal["lines", "pages"] | None = None
    """How a person finds a place in it: by the lines of a text file, or the pages of a PDF, divided by form feeds."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document, usually a paragraph: what a `Retriever` returns."""

    text: str
    document: str
    """The document's name: the path of its file; for a line of a JSONL file, with the line number or the line's id."""
    start: int
    end: int
    """Character offsets into the document's text: `text[start:end]` is the passage."""
    score: float = 0.0
    """How well it matches the question; higher is better, on any scale."""
    line: int | None = None
    """The line of the file where it starts, from 1; None if the document is not located by lines."""
    page: int | None = None
    """The page where it starts, from 1; None if the document is not located by pages."""

    def line_at(self, offset: int) -> int | None:
        """The line of the file at a character of the passage."""
        return None if self.line is None else self.line + self.text.count("\n", 0, offset)

    def page_at(self, offset: int) -> int | None:
        """The page at a character of the passage."""
        return None if self.page is None else self.page + self.text.count("\f", 0, offset)


def document_id(name: str) -> str:
    """The id of a file or a document in an index: a hash, since a file's name need not be valid text."""
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:  # the id of a line of JSONL, which may hold anything that JSON can write
        encoded = name.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=16).hexdigest()


def passages(document: Document) -> Iterator[Passage]:
    """The passages of a document, in order. A heading goes with the paragraph after it; a list stays together."""
    line = page = 1
    counted = 0
    text = document.text
    for block in _with_headings(text, _blocks(text)):
        for start, end in _cut(text, block):
            line += text.count("\n", counted, start)
            page += text.count("\f", counted, start)
            counted = start
            yield Passage(
                text[start:end],
                document.name,
                start,
                end,
                line=line if document.located_by == "lines" else None,
                page=page if document.located_by == "pages" else None,
            )


def _blocks(text: str) -> Iterator[Offsets]:
    """The text between empty lines and page breaks."""
    start = 0
    for gap in _BREAK.finditer(text):
        yield from _trimmed(text, start, gap.start())
        start = gap.end()
    yield from _trimmed(text, start, len(text))


def _with_headings(text: str, blocks: Iterable[Offsets]) -> Iterator[Offsets]:
    """Join headings with the block that follows. Lines of a list look like headings, so they are joined, too."""
    first: int | None = None
    end = 0
    for start, end in blocks:
        first = start if first is None else first
        if not (end - first < MAX_LENGTH and is_heading(text[start:end])):
            yield first, end
            first = None
    if first is not None:
        yield first, end


def is_heading(block: str) -> bool:
    """Whether a block of text is a heading: a short line that is no sentence."""
    return len(block) <= MAX_HEADING and "\n" not in block and not _SENTENCE_END.search(block)


def _cut(text: str, block: Offsets) -> Iterator[Offsets]:
    """The block; if it is too long, as many whole sentences at a time as fit."""
    start, end = block
    if end - start <= MAX_LENGTH:
        yield block
        return
    first, last = start, start
    for piece, piece_end in _pieces(text, block):
        if piece_end - first > MAX_LENGTH and last > first:
            yield first, last
            first = piece
        last = piece_end
    yield first, last


def _pieces(text: str, block: Offsets) -> Iterator[Offsets]:
    """The sentences of a block. A sentence that is too long itself is cut at the last space that fits."""
    start, end = block
    for sentence in sentences(text[start:end]):
        first, last = start + sentence.start, start + sentence.end
        while last - first > MAX_LENGTH:
            space = text.rfind(" ", first + 1, first + MAX_LENGTH)
            cut = space if space > first else first + MAX_LENGTH
            yield from _trimmed(text, first, cut)
            first = cut
        yield from _trimmed(text, first, last)


def _trimmed(text: str, start: int, end: int) -> Iterator[Offsets]:
    """The range without surrounding white space and without a byte order mark before it; nothing if it is empty."""
    part = text[start:end]
    start += len(part) - len(part.lstrip().removeprefix("\ufeff").lstrip())
    content = text[start:end].rstrip()
    if content:
        yield start, start + len(content)
