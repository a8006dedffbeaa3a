"""One progress bar for every long command: on stderr, and only on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Thing = TypeVar("Thing")


@contextmanager
def progress(description: str, *, total: int | None = None, unit: str = "pairs") -> Iterator[Callable[[int], None]]:
    """Gives the function to call with how much was done; without a total it counts."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    count = "{task.completed:,}" + (f" of {total:,}" if total else "")
    columns: list[ProgressColumn] = [
        TextColumn("{task.description}:"),
        TextColumn(f"{count} {unit}"),
        TimeElapsedColumn(),
    ]
    columns = [*columns[:1], BarColumn(), *columns[1:], TimeLeft()] if total else [SpinnerColumn(), *columns]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=total)
        yield lambda done: bar.advance(task, done)


def shown(things: Iterable[Thing], description: str, *, total: int | None = None, unit: str) -> Iterator[Thing]:
    """The same things, with the bar moving by one for each."""
    with progress(description, total=total, unit=unit) as advance:
        for thing in things:
            advance(1)
            yield thing
