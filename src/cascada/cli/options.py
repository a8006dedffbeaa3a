"""Options that several commands share, each with one meaning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.data import Group

Source = Annotated[str, typer.Argument(help="A known name (with --root), a file, NAME:FILE, or hf:ID.")]
Out = Annotated[Path, typer.Argument(help="The file to write (.gz packs it).")]
Root = Annotated[Path | None, typer.Option(help="The folder of a data set known by name.")]
Split = Annotated[str | None, typer.Option(help="train, dev, test …")]
Model = Annotated[str | None, typer.Option(help="A ranker's folder, bm25, cosine:FOLDER, or two of them as A+B.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Drop = Annotated[
    str | None, typer.Option(help="Drop ratio at every exit, or one for each but the last: 0.3 or 0.3,0.4.")
]
Store = Annotated[
    Path | None,
    typer.Option("--store", help="Documents' encodings for a decoupled ranker, as `cascada encode` keeps them."),
]
Keep = Annotated[str | None, typer.Option(help="Instead of --drop: how many stay after each exit but the last: 64,32.")]


def ratios(option: str | None) -> float | list[float] | Literal["fit"] | None:
    """`0.3` or `0.3,0.4` as numbers; `fit` is for the ranker to understand."""
    if option is None or option == "fit":
        return option  # type: ignore[return-value]
    try:
        numbers = [float(part) for part in option.split(",")]
    except ValueError:
        raise CascadaError(f"--drop {option}: expected a number or numbers with commas, such as 0.3,0.4.") from None
    return numbers if len(numbers) > 1 else numbers[0]


def whole_numbers(option: str | None, name: str) -> list[int] | None:
    """`64,32` as numbers."""
    if option is None:
        return None
    try:
        return [int(part) for part in option.split(",")]
    except ValueError:
        raise CascadaError(f"{name} {option}: expected whole numbers with commas, such as 64,32.") from None


def split_or(usual: str, split: str | None, data: str) -> str | None:
    """The split that was asked for; if none was, `usual` of a data set that has several."""
    from cascada.data.catalog import CATALOG

    return usual if split is None and (data in CATALOG or data.startswith("hf:")) else split


def read_splits(source: str, root: Path | None, splits: str | None) -> Iterator[Group]:
    """The groups of several splits, `train,dev`, one after the other."""
    from cascada.data import read

    names = splits.split(",") if splits else [None]
    return chain.from_iterable([read(source, root=root, split=name) for name in names])
