"""HTML: the visible text, with an empty line between blocks, without scripts and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from cascada.core.errors import DataError
from cascada.search.formats.plain import read_text
from cascada.search.passage import Document
from cascada.text.html import BLOCK_TAGS

_MORE_BLOCKS = {"html", "head", "body", "main", "section", "article", "header", "footer", "nav", "aside", "form"}
_MORE_BLOCKS |= {"fieldset", "figure", "figcaption", "address", "details", "summary", "center"}
_UNSEEN = {"script", "style", "template", "noscript", "title", "svg", "select", "textarea", "iframe", "object"}
_SPACE = re.compile(r"\s+")


def read(path: Path) -> Iterator[Document]:
    text = visible_text(read_text(path), path)
    if not text:
        raise DataError(f"{path} has no text to read.")
    yield Document(str(path), text)


def visible_text(markup: str, path: Path) -> str:
    parser = _Text()
    try:
        parser.feed(markup)
        parser.close()
    except AssertionError as error:  # the parser fails like this on some malformed declarations
        raise DataError(f"{path} cannot be read as HTML: {error}.") from error
    return "\n\n".join(parser.blocks())


class _Text(HTMLParser):
    """Collects the visible text, with None where a block begins or ends."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str | None] = []
        self._unseen = 0
        self._preformatted = 0

    def blocks(self) -> Iterator[str]:
        block: list[str] = []
        for piece in [*self._pieces, None]:
            if piece is not None:
                block.append(piece)
                continue
            text = "\n".join(" ".join(line.split()) for line in "".join(block).strip().split("\n"))
            if text:
                yield text
            block = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        self._preformatted += tag == "pre"
        self._add_break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        self._preformatted = max(0, self._preformatted - (tag == "pre"))
        self._add_break(tag)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Skip `<![if IE]>` and the like. Python's own method fails on sections that it does not know."""
        return self.parse_bogus_comment(i)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._pieces.append(data if self._preformatted else _SPACE.sub(" ", data))

    def _add_break(self, tag: str) -> None:
        if tag in BLOCK_TAGS or tag in _MORE_BLOCKS:
            self._pieces.append(None)
        elif tag == "br":
            self._pieces.append("\n")
        elif tag in ("td", "th"):  # a table's row reads as one line
            self._pieces.append(" ")
