"""Options that several commands share, each with one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cascada.errors import CascadaError

Source = Annotated[str, typer.Argument(help="A known name (with --root), a file, NAME:FILE, or hf:ID.")]
Root = Annotated[Path | None, typer.Option(help="The folder of a data set known by name.")]
Split = Annotated[str | None, typer.Option(help="train, dev, test …")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Drop = Annotated[str | None, typer.Option(help="Drop ratio at every exit, or one for each: 0.3 or 0.3,0.4.")]


def ratios(option: str | None) -> float | list[float] | None:
    """`0.3` or `0.3,0.4` as numbers."""
    if option is None:
        return None
    try:
        numbers = [float(part) for part in option.split(",")]
    except ValueError:
        raise CascadaError(f"--drop {option}: expected a number or numbers with commas, such as 0.3,0.4.") from None
    return numbers if len(numbers) > 1 else numbers[0]
