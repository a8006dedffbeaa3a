"""What `rank` returns."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    truncated: bool
    """Its text did not fit and only the start was read."""
    document: Document = field(repr=False)
    """The candidate as it was given."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates in order, best first."""

    question: str
    items: tuple[Item, ...]
    relative_cost: float
    """Compute spent, relative to running every candidate to the end."""
    complete: bool = True
    """False if a deadline stopped the ranking before its last stage."""

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Item:
        return self.items[place]

    def to_dict(self) -> dict[str, Any]:
        """What `cascada rank --json` prints; a candidate that was a mapping comes back whole as `document`."""
        keys = ("index", "text", "score", "raw_score", "exit", "truncated")
        return {
            "items": [
                {key: getattr(item, key) for key in keys}
                | ({"document": dict(item.document)} if isinstance(item.document, Mapping) else {})
                for item in self.items
            ],
            "relative_cost": self.relative_cost,
            "complete": self.complete,
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        title = Text(_shown(self.question))
        table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1))
        for name in ("", "score", "#"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("", overflow="fold")
        for place, item in enumerate(self.items, 1):
            style = "bold green" if place == 1 else ""
            text = Text(_shown(item.text) + (" […]" if item.truncated else ""))
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


def _shown(text: str) -> str:
    """On one line, and without what would command the terminal or cannot be printed."""
    return _CONTROL.sub("\ufffd", " ".join(text.split()))


def _html(text: str) -> str:
    return escape(_shown(text))
