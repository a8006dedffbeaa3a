"""Progress bars for long commands, on stderr and only in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from cascada.api import Progress

Thing = TypeVar("Thing")


@contextmanager
def progress(description: str, *, total: int | None = None, unit: str = "pairs") -> Iterator[Callable[[int], None]]:
    """Show one bar. Yields a function to call with the number of units done; without a total it only counts them."""
    with _bar(with_total=bool(total)) as bar:
        task = bar.add_task(description, total=total, unit=unit)
        yield lambda done: bar.advance(task, done)


@contextmanager
def progress_of_steps() -> Iterator[Callable[[Progress], None]]:
    """Show a bar for each step of a function of `cascada.api`. Yields the function's `on_progress`."""
    with _bar(with_total=True) as bar:
        tasks: dict[str, TaskID] = {}

        def on_progress(progress: Progress) -> None:
            if progress.step not in tasks:
                for task in tasks.values():
                    bar.remove_task(task)
                tasks.clear()
                tasks[progress.step] = bar.add_task(progress.step, total=progress.total, unit=progress.unit)
            bar.update(tasks[progress.step], completed=progress.done)

        yield on_progress


def shown(things: Iterable[Thing], description: str, *, total: int | None = None, unit: str) -> Iterator[Thing]:
    """Yield the same things, with a bar that advances by one for each."""
    with progress(description, total=total, unit=unit) as advance:
        for thing in things:
            advance(1)
            yield thing


def _bar(*, with_total: bool) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    name = TextColumn("{task.description}:")
    columns: list[ProgressColumn] = [SpinnerColumn(), name, TextColumn("{task.completed:,} {task.fields[unit]}")]
    if with_total:
        count = TextColumn("{task.completed:,} of {task.total:,} {task.fields[unit]}")
        columns = [name, BarColumn(), count]
    columns.append(TimeElapsedColumn())
    if with_total:
        columns.append(TimeLeft())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
