"""`cascada export MODEL OUT`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.options import AsJson, Root


def export(
    model: Annotated[Path, typer.Argument(help="The folder of a trained ranker or reader.")],
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    precision: Annotated[str, typer.Option(help="int8 or fp32.")] = "int8",
    data: Annotated[
        str | None,
        typer.Option(help="Measure MAP on this data set, before and after; a reader's F1 on a SQuAD file."),
    ] = None,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; by default dev.")] = None,
    loss: Annotated[float, typer.Option(min=0, help="Reject the export if it loses more MAP (F1) than this.")] = 0.005,
    force: Annotated[bool, typer.Option("--force", help="Keep the export, whatever it loses.")] = False,
    texts: Annotated[
        Path | None, typer.Option(help="Add exit 0, with IDF from these texts: a text per line, or JSONL.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a trained ranker or reader as graphs for the CPU engine, which needs no torch."""
    from cascada import api
    from cascada.cli.progress import progress_of_steps

    with progress_of_steps() as on_progress:
        result = api.export(
            model,
            out,
            precision=precision,  # type: ignore[arg-type]  # checked there
            data=data,
            root=root,
            split=split,
            loss=None if force else loss,
            texts=texts,
            on_progress=on_progress,
        )
    if as_json:
        print(json.dumps(result.to_dict()))
        return
    measured = result.agreement
    change = "not compared: give --data"
    if measured:
        change = f"{measured.measure} {measured.trained:.4f} → {measured.exported:.4f}"
    print(f"{out}: {result.bytes / 1e6:.1f} MB, {change}")
