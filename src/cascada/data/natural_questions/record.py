"""Parse a line of Natural Questions, of either release: the question, its page, and the annotated answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from cascada.data import check
from cascada.data.lines import Line

_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(?:[ _].*)?/?>")


class Span(NamedTuple):
    """Positions from `start` up to but not including `end`: tokens of a page, or characters of a text."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether the spans share a position."""
        return self.start < other.end and other.start < self.end


class Page(NamedTuple):
    tokens: list[str]
    tags: dict[int, str]
    """The tokens that are HTML tags, in order: position → name of the tag (`p` for `<P>` and `</P>`)."""


class Record(NamedTuple):
    """A question with the answers of all annotators: one in the training set, five in the dev set."""

    id: str | None
    question: str
    page: Page
    long_answers: tuple[Span, ...]
    short_answers: tuple[Span, ...]
    yes_or_no: bool
    """Whether an annotator answered with yes or no, which has no place on the page."""


def parse(line: Line) -> Record:
    """Parse a line of the simplified release (`document_text`) or of the original one (`document_tokens`)."""
    record = check.json_line(line)
    page = _page(record, line)
    annotations = [check.json_object(value, "an annotation", line) for value in _list(record, "annotations", line)]
    long = (_span(annotation.get("long_answer"), page, line) for annotation in annotations)
    short = (
        _span(answer, page, line) for annotation in annotations for answer in _list(annotation, "short_answers", line)
    )
    return Record(
        check.identifier(record.get("example_id"), line),
        _question(record, line),
        page,
        tuple(sorted({span for span in long if span})),
        tuple(sorted({span for span in short if span})),
        any(annotation.get("yes_no_answer") in ("YES", "NO") for annotation in annotations),
    )


def _question(record: Mapping[str, Any], line: Line) -> str:
    text = record.get("question_text")
    if text is None:
        text = " ".join(map(str, _list(record, "question_tokens", line)))
    return " ".join(check.question(text, line).split())


def _page(record: Mapping[str, Any], line: Line) -> Page:
    if "document_tokens" in record:
        return _original_page(_list(record, "document_tokens", line), line)
    # Offsets count the strings between single spaces, including empty ones, which split() without an argument drops.
    tokens = check.text_field(record, ("document_text", "document_tokens"), line).split(" ")
    tags = ((position, _tag(token)) for position, token in enumerate(tokens) if token.startswith("<"))
    return Page(tokens, {position: name for position, name in tags if name})


def _original_page(records: list[Any], line: Line) -> Page:
    try:
        tokens = [token["token"] for token in records]
        tags = {position: _tag(token["token"]) for position, token in enumerate(records) if token["html_token"]}
        check.require_encodable("".join(tokens), line)
    except (KeyError, TypeError) as error:
        raise line.error(f'expected document_tokens with "token" and "html_token" each ({error!r})') from error
    return Page(tokens, tags)


@lru_cache(maxsize=4096)
def _tag(token: str) -> str:
    """Name of a tag: `td` for `<Td>`, `</Td>` and `<Td_colspan="2">`; empty for text such as `<` or `<3`."""
    match = _TAG.fullmatch(token)
    return match[1].lower() if match else ""


def _span(answer: object, page: Page, line: Line) -> Span | None:
    """The answer's tokens; None if the release has -1 for "no answer"."""
    record = check.json_object(answer, "an answer", line)
    start, end = record.get("start_token"), record.get("end_token")
    if start == end == -1:
        return None
    if type(start) is int and type(end) is int and 0 <= start < end <= len(page.tokens):
        return Span(start, end)
    problem = f"expected an answer within the page's {len(page.tokens)} tokens"
    raise line.error(f"{problem}, found one from token {check.shorten(start)} to {check.shorten(end)}")


def _list(record: Mapping[str, Any], key: str, line: Line) -> list[Any]:
    if key not in record:
        raise line.error(f'expected "{key}", found only {check.shorten(sorted(map(str, record)))}')
    return check.list_of(record[key], key, line)
