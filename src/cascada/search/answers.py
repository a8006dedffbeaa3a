"""The result of `ask`, and how a terminal shows it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from cascada.ranking.result import on_one_line
from cascada.search.passage import Passage, document_id
from cascada.text.words import without_surrogates

CONTEXT = 240
"""Characters of the passage that are shown before and after the answer."""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """The part of a sentence that is the answer itself, as extracted by a reader."""

    text: str
    start: int
    end: int
    """Character offsets into the document's text."""
    score: float
    """In [0, 1]."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A sentence that answers the question, and its position."""

    text: str
    document: str
    start: int
    end: int
    """Character offsets into the document's text (for .txt and .md: into the file): `text[start:end]` is the answer."""
    score: float
    """In [0, 1]."""
    line: int | None
    page: int | None
    passage: Passage = field(repr=False)
    short: ShortAnswer | None = None
    """None without a reader, and if the reader finds no short answer."""

    @property
    def place(self) -> str:
        """Document and line or page: `plays/hamlet.txt, line 12`."""
        if self.line is not None:
            return f"{self.document}, line {self.line}"
        return self.document if self.page is None else f"{self.document}, page {self.page}"

    @property
    def document_id(self) -> str:
        """The document's id in an index; see `Asker.document`."""
        return document_id(self.document)

    def to_dict(self) -> dict[str, Any]:
        """Its part of what `cascada ask --json` prints."""
        keys = ("text", "document", "document_id", "start", "end", "score", "line", "page")
        passage = {key: getattr(self.passage, key) for key in ("text", "start", "end", "score")}
        short = None if self.short is None else asdict(self.short)
        values = {key: getattr(self, key) for key in keys} | {"answer": short, "passage": passage}
        return values | {"document": without_surrogates(self.document)}  # a file's name need not be valid text


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds per step."""

    retrieve: float
    split: float
    rank: float
    read: float = 0.0


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to a question, best first."""

    question: str
    answers: tuple[Answer, ...]
    passages: int = 0
    """Passages retrieved."""
    sentences: int = 0
    """Sentences ranked."""
    relative_cost: float = 0.0
    complete: bool = True
    """False if the deadline stopped the ranking before its last stage."""
    likely: bool | None = None
    """Whether the first sentence is probably an answer, by its score; None for rankers that only compare words."""
    seconds: Times | None = field(default=None, compare=False)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    def to_dict(self) -> dict[str, Any]:
        """What `cascada ask --json` prints."""
        keys = ("question", "passages", "sentences", "relative_cost", "complete", "likely")
        seconds = {"seconds": asdict(self.seconds)} if self.seconds else {}
        return {"answers": [answer.to_dict() for answer in self]} | {key: getattr(self, key) for key in keys} | seconds

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(on_one_line(self.question), style="bold")
        if not self.sentences:
            yield Text("No passage shares a word with the question.")
        elif not self.answers:
            yield Text("No sentence is likely to be an answer.", style="yellow")
        elif self.likely is False:
            yield Text(
                f"None of these is likely to be an answer; the best score is {self[0].score:.3f}.", style="yellow"
            )
        for number, answer in enumerate(self, 1):
            yield Text()
            yield Text.assemble(
                (f"{number}  ", "bold"), (f"{answer.score:.3f}  ", "dim"), (_relative_place(answer), "cyan")
            )
            shown = _in_context(answer, marked=not console.is_terminal)
            for line in shown.wrap(console, max(options.max_width - 3, 20)):
                line.rstrip()
                yield Text("   ") + line

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=120, force_terminal=False)
        with console.capture() as captured:
            console.print(self)
        return captured.get().rstrip()


def _relative_place(answer: Answer) -> str:
    """The place, with a relative path if the document is in the working directory."""
    return on_one_line(answer.place.removeprefix(os.getcwd() + os.sep))


def _in_context(answer: Answer, *, marked: bool) -> Text:
    """The answer in its passage; between » and « if colours cannot mark it."""
    passage, start = answer.passage.text, answer.start - answer.passage.start
    end = start + len(answer.text)
    before = _with_ellipsis(passage[:start], passage[max(0, start - CONTEXT) : start], front=True)
    after = _with_ellipsis(passage[end:], passage[end : end + CONTEXT], front=False)
    sentence = _with_short(answer, marked=marked)
    shown = Text.assemble("» ", sentence, " «") if marked else sentence
    return Text(" ").join(part for part in (Text(before), shown, Text(after)) if part)


def _with_short(answer: Answer, *, marked: bool) -> Text:
    """The sentence, with its short answer in bold, or between stars if nothing can be bold; without one, all bold."""
    if answer.short is None:
        return Text(on_one_line(answer.text), "bold green")
    start, end = answer.short.start - answer.start, answer.short.end - answer.start
    short = on_one_line(answer.text[start:end])
    before, after = _keep_edge_spaces(answer.text[:start]), _keep_edge_spaces(answer.text[end:])
    stars = "**" if marked else ""
    return Text.assemble((before, "green"), (f"{stars}{short}{stars}", "bold green"), (after, "green"))


def _keep_edge_spaces(part: str) -> str:
    """A part of a sentence on one line, with a space where it begins or ends with white space."""
    shown = on_one_line(part)
    if not shown:
        return " " if part else ""
    return f"{' ' * part[0].isspace()}{shown}{' ' * part[-1].isspace()}"


def _with_ellipsis(whole: str, part: str, *, front: bool) -> str:
    """The part on one line; if the whole is longer, without the word that was cut, and with an ellipsis."""
    if len(part) == len(whole):
        return on_one_line(part)
    return f"… {on_one_line(part.partition(' ')[2])}" if front else f"{on_one_line(part.rpartition(' ')[0])} …"
