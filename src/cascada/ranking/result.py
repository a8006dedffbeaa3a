"""The result of a ranking, as `Ranker.rank` returns it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

TextOrMapping = str | Mapping[str, Any]
"""A candidate: its text, or a mapping with the text under "text"."""

NO_ANSWER = "None of these is likely to be an answer."
EMPTY_ROW = "<tr><td>(no candidates)</td></tr>"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Item:
    """One ranked candidate."""

    text: str
    score: float
    """In [0, 1]."""
    raw_score: float
    index: int
    """Its position in the list of candidates that was passed."""
    exit: int
    """The last layer that scored it; 0 for rankers without layers."""
    scores: tuple[float, ...]
    """Its raw score at each stage it reached; the last one is `raw_score`."""
    truncated: bool
    """Whether question and text together were too long, so that the end of one or both was cut off."""
    document: TextOrMapping = field(repr=False)
    """The candidate as it was passed."""
    window: tuple[int, int] | None = None
    """The part of the text that it was ranked by, `text[start:end]`; None if that is all of the text."""


@dataclass(frozen=True, slots=True)
class StageCost:
    """The cost of one stage."""

    exit: int
    candidates: int
    """How many candidates it scored."""
    flops: int
    seconds: float = field(compare=False)
    """Not compared: two rankings that differ only in time are equal."""
    texts: int = 0
    """How many texts it scored: more than candidates, where long texts were divided into windows."""
    cached: int = 0
    """How many of these scores came from a cache, without any operation."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates of a question in order, best first."""

    question: str
    items: tuple[Item, ...]
    relative_cost: float
    """Layers run, relative to running every candidate to the last exit."""
    stages: tuple[StageCost, ...] = ()
    """The cost of each stage; a stage that a deadline stopped, and those after it, scored no candidates."""
    full_flops: int = 0
    """Operations of running every candidate to the last exit; 0 if unknown."""
    complete: bool = True
    """False if a deadline stopped the ranking before its last stage."""
    likely: bool | None = None
    """Whether the best candidate is probably an answer: its score is at least `min_score`, or 0.5 without one. None for
    rankers whose scores are no probabilities, and if the order is the first stage's (`skipped`)."""
    skipped: bool = False
    """True if order and scores are the first stage's, which was so sure (`skip_if_sure`) that nothing was computed."""

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Item:
        return self.items[place]

    @property
    def flops(self) -> int:
        """Floating-point operations spent; see `cascada.ranking.cost.TransformerFlops` for what is counted."""
        return sum(stage.flops for stage in self.stages)

    @property
    def seconds(self) -> float:
        """Time spent in all stages."""
        return sum(stage.seconds for stage in self.stages)

    def to_dict(self) -> dict[str, Any]:
        """The ranking as `cascada rank --json` prints it; a candidate passed as a mapping is included as `document`."""
        keys = ("index", "text", "score", "raw_score", "exit", "truncated", "scores", "window")
        return {
            "items": [
                {key: getattr(item, key) for key in keys}
                | ({"document": dict(item.document)} if isinstance(item.document, Mapping) else {})
                for item in self.items
            ],
            "relative_cost": self.relative_cost,
            "flops": self.flops,
            "full_flops": self.full_flops,
            "stages": [asdict(stage) for stage in self.stages],
            "complete": self.complete,
            "likely": self.likely,
            "skipped": self.skipped,
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(on_one_line(self.question), style="bold")
        if self.likely is False:
            yield Text(NO_ANSWER, style="yellow")
        if not self.items:
            if self.likely is not False:
                yield Text("(no candidates)")
            return
        table = Table(box=None, padding=(0, 1))
        for name in ("", "score", "#"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("", overflow="fold")
        for place, item in enumerate(self.items, 1):
            style = "bold green" if place == 1 else ""
            text = Text(on_one_line(item.text) + (" […]" if item.truncated else ""))
            table.add_row(str(place), f"{item.score:.3f}", str(item.index), text, style=style)
        yield table

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=120, force_terminal=False)
        with console.capture() as captured:
            console.print(self)
        return captured.get().rstrip()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{place}</td><td>{item.score:.3f}</td><td style='text-align:left'>{_html(item.text)}</td></tr>"
            for place, item in enumerate(self.items, 1)
        )
        note = f"<br>{NO_ANSWER}" if self.likely is False else ""
        return f"<table><caption>{_html(self.question)}{note}</caption>{rows or EMPTY_ROW}</table>"


def on_one_line(text: str) -> str:
    """The text on one line, with control characters and lone surrogates replaced."""
    return _CONTROL.sub("\ufffd", " ".join(text.split()))


def _html(text: str) -> str:
    return escape(on_one_line(text))
