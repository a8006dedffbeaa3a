"""From a page's tokens to the sentences a person reads, each with its place among the tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from cascada.data.natural_questions.record import Page, Span
from cascada.text.sentences import sentences

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_LISTS = {"ul", "ol", "li", "dl", "dt", "dd"}
_TABLES = {"table", "caption", "thead", "tbody", "tfoot", "tr"}
BLOCKS = {"p", "div", "blockquote", "pre", "hr", *_HEADINGS, *_LISTS, *_TABLES}
"""Tags that end a sentence. Others stand within one: `td` and `th`, so that a row reads as text, `b`, `a`, `sup` …"""


class PageSentence(NamedTuple):
    text: str
    """Its tokens with a space between them, as ASNQ has them: `It rises 4,808 m ( 15,774 ft ) .`"""
    place: Span
    """From its first to its last token; the tags between them, such as a row's cells, lie inside."""


def page_sentences(page: Page) -> Iterator[PageSentence]:
    """Every sentence of the page, in order. Each token that is text belongs to exactly one of them."""
    for block in _blocks(page):
        yield from _split(block, page.tokens)


def _blocks(page: Page) -> Iterator[list[int]]:
    """Positions of the text tokens between one block tag and the next."""
    block: list[int] = []
    after = 0
    for position, tag in page.tags.items():
        block.extend(range(after, position))
        after = position + 1
        if tag in BLOCKS and block:
            yield block
            block = []
    block.extend(range(after, len(page.tokens)))
    if block:
        yield block


def _split(block: list[int], tokens: list[str]) -> Iterator[PageSentence]:
    words = [tokens[position] for position in block]
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    found = sentences(" ".join(words))
    # The splitter counts characters. A token belongs to the sentence it begins in, even if that ends inside of it.
    cuts = [0, *(bisect_left(starts, sentence.start) for sentence in found[1:]), len(words)]
    for first, end in pairwise(cuts):
        text = " ".join(" ".join(words[first:end]).split())
        if text:
            yield PageSentence(text, Span(block[first], block[end - 1] + 1))
