"""Arguments that the functions of the API share: paths, data sets and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cascada.core.errors import CascadaError
from cascada.data import Group, identified, load, select
from cascada.data.catalog import split_or_default
from cascada.data.statistics import parse_mode

if TYPE_CHECKING:
    from cascada.reading.measure import MarkedQuestion

LocalPath = str | Path

Data = str | Path | Sequence[Group]
"""A data set: a known name (with a root), a file, `NAME:FILE`, `hf:ID`, or groups."""


class Progress(NamedTuple):
    """How far a step of a function has come."""

    step: str
    """What is being done, such as "ranking"."""
    done: int
    total: int
    unit: str
    """What `done` and `total` count, such as "pairs"."""


OnProgress = Callable[[Progress], object]


def load_data(
    data: Data, root: LocalPath | None, split: str | None, mode: str, *, default_split: str
) -> tuple[list[Group], str]:
    """The questions of a data set that the mode keeps, with ids, and a name for them."""
    if not isinstance(data, (str, Path)):
        groups = list(select(identified(data), parse_mode(mode)))
        if not groups:
            raise CascadaError(f"The data has no questions in mode {mode}.")
        return groups, f"{len(groups)} questions ({mode})"
    name = str(data)
    split = split_or_default(name, split, default_split)
    groups = load(name, root=root, split=split, mode=parse_mode(mode))
    return groups, f"{name}{f' {split}' if split else ''} ({mode})"


def reader_questions(data: Data, **others: object) -> list[MarkedQuestion]:
    """The questions to measure a reader on; `others` are arguments that only apply to rankers' data, by name."""
    from cascada.reading.measure import read_questions

    given = [name for name, value in others.items() if value is not None]
    if given or not isinstance(data, (str, Path)):
        problem = f"{given[0]} is for rankers" if given else "groups are for rankers"
        raise CascadaError(f"{problem}: a reader is measured on a file in SQuAD's layout.")
    return read_questions(data)


def read_texts(path: LocalPath) -> list[str]:
    """The texts of a file: the "text" of each line of JSONL, otherwise each line. There must be some."""
    from cascada.data.lines import lines
    from cascada.search import read

    source = Path(path)
    rows = read(source) if ".jsonl" in source.suffixes else lines(source)
    texts = [row.text for row in rows]
    if not any(text.strip() for text in texts):
        raise CascadaError(f"{source} has no texts.")
    return texts


def count_pairs(groups: Sequence[Group]) -> int:
    """The number of candidates of all questions."""
    return sum(len(group.candidates) for group in groups)


@contextmanager
def reporting(on_progress: OnProgress | None, step: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """A function to call with how much was done since the last call."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if on_progress:
            on_progress(Progress(step, done, total, unit))

    yield advance
