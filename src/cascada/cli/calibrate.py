"""`cascada calibrate MODEL DATA OUT`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.options import AsJson, Root, Source


def calibrate(
    model: Annotated[Path, typer.Argument(help="A trained ranker's folder.")],
    data: Source,
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; by default dev.")] = None,
    exported: Annotated[
        Path | None,
        typer.Option(help="Fit on the scores of this export of the ranker, then export OUT: 8 bits may shift scores."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a ranker whose scores are probabilities: of the candidates with score 0.7, 70 % are correct."""
    from cascada.core.errors import require_torch

    require_torch("calibrating a ranker")
    from cascada.cli.progress import progress
    from cascada.data import load
    from cascada.data.catalog import split_or_default
    from cascada.systems.calibrate import calibrate as write

    groups = load(data, root=root, split=split_or_default(data, split, "dev"))
    with progress("ranking", total=sum(len(group.candidates) for group in groups)) as advance:
        lines = write(model, groups, out, advance, exported=exported)
    if as_json:
        print(json.dumps({"path": str(out), "exits": {exit: vars(line) for exit, line in lines.items()}}))
        return
    print(f"{out}: scores of {exported or model}, calibrated")
    for exit, line in lines.items():
        print(f"  exit {exit}: {line.scale:.3f} · score {line.shift:+.3f}")
