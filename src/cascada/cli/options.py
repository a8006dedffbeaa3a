"""Options that several commands share, and parsers of their values."""

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
FirstStage = Annotated[
    str | None,
    typer.Option(
        help="For beir and trec_dl, the source of candidates: bm25, a TREC run file, or a list in the folder."
    ),
]
Depth = Annotated[
    int | None, typer.Option(min=1, help="How many candidates of the first stage; 100, or a whole list, by default.")
]
Out = Annotated[Path, typer.Argument(help="The file to write; compressed if it ends in .gz.")]
Root = Annotated[Path | None, typer.Option(help="The folder of a data set known by name.")]
Split = Annotated[str | None, typer.Option(help="train, dev, test …")]
Model = Annotated[
    str | None, typer.Option(help="A ranker's folder, bm25, cosine:FOLDER, late:FOLDER, or two of them as A+B.")
]
Documents = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", help="Files and folders: .txt .md .html .pdf .jsonl; or an index."),
]
KeptIndex = Annotated[
    Path | None, typer.Option("--index", help="Keep an index of the paths here and search it; created if necessary.")
]
Language = Annotated[str, typer.Option(help="The documents' language, a two-letter code, for splitting sentences.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Drop = Annotated[
    str | None, typer.Option(help="Drop ratio at every exit, or one for each exit but the last: 0.3 or 0.3,0.4.")
]
Store = Annotated[
    Path | None,
    typer.Option("--store", help="Store of document encodings for a decoupled ranker; see `cascada encode`."),
]
Keep = Annotated[
    str | None, typer.Option(help="Instead of --drop: how many candidates survive each exit but the last: 64,32.")
]


def ratios(option: str | None) -> float | list[float] | Literal["fit"] | None:
    """Parse `0.3` or `0.3,0.4`; `fit` is passed on to the ranker."""
    if option is None or option == "fit":
        return option  # type: ignore[return-value]
    values = numbers(option, "--drop") or []
    return values if len(values) > 1 else values[0]


def numbers(option: str | None, name: str) -> list[float] | None:
    """Parse `0.3,0.4`."""
    if option is None:
        return None
    try:
        return [float(part) for part in option.split(",")]
    except ValueError:
        raise CascadaError(f"{name} {option}: expected numbers separated by commas, such as 0.3,0.4.") from None


def whole_numbers(option: str | None, name: str) -> list[int] | None:
    """Parse `64,32`."""
    if option is None:
        return None
    try:
        return [int(part) for part in option.split(",")]
    except ValueError:
        raise CascadaError(f"{name} {option}: expected whole numbers separated by commas, such as 64,32.") from None


def read_splits(source: str, root: Path | None, splits: str | None) -> Iterator[Group]:
    """Read the groups of several splits, given as `train,dev`, one after the other."""
    from cascada.data import read

    names = splits.split(",") if splits else [None]
    return chain.from_iterable([read(source, root=root, split=name) for name in names])
