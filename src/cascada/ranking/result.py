"""What `rank` returns."""

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

Document = str | Mapping[str, Any]


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Item:
    """One candidate in its place."""

    text: str
    score: float
    """In [0, 1]."""
    raw_score: float
    index: int
    """Where it stood in the list that was given."""
    exit: int
    """The layer after which it left (or was ranked, if it stayed to the end); 0 for rankers without layers."""
    scores: tuple[float, ...]
    """Its raw score at each stage it came to; the last one is `raw_score`."""
    truncated: bool
    """It did not fit beside the question, and only the start of one or both was read."""
    document: Document = field(repr=False)
    """The candidate as it was given."""


@dataclass(frozen=True, slots=True)
class StageCost:
    """What one stage did."""

    exit: int
    candidates: int
    """How many it scored."""
    flops: int
    seconds: float = field(compare=False)
    """Two rankings that differ in time alone are equal."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates in order, best first."""

    question: str
    items: tuple[Item, ...]
    relative_cost: float
    """Layers run, relative to running every candidate to the end."""
    stages: tuple[StageCost, ...] = ()
    """What each stage did; one that a deadline stopped, and those after it, scored nobody."""
    full_flops: int = 0
    """What running every candidate to the end would have taken; 0 where that is not known."""
    complete: bool = True
    """False if a deadline stopped the ranking before its last stage."""

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Item:
        return self.items[place]

    @property
    def flops(self) -> int:
        """Floating-point operations spent; see `cascada.ranking.cost.Arithmetic` for what is counted."""
        return sum(stage.flops for stage in self.stages)

    @property
    def seconds(self) -> float:
        return sum(stage.seconds for stage in self.stages)

    def to_dict(self) -> dict[str, Any]:
        """What `cascada rank --json` prints; a candidate that was a mapping comes back whole as `document`."""
        keys = ("index", "text", "score", "raw_score", "exit", "truncated", "scores")
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
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        title = Text(on_one_line(self.question))
        table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1))
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
        return f"<table><caption>{_html(self.question)}</caption>{rows}</table>"


def on_one_line(text: str) -> str:
    """On one line, and without what would command the terminal or cannot be printed."""
    return _CONTROL.sub("\ufffd", " ".join(text.split()))


def _html(text: str) -> str:
    return escape(on_one_line(text))
