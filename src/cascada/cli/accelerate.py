"""`cascada accelerate MODEL QUESTIONS OUT`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.options import AsJson, Root, whole_numbers


def accelerate(
    model: Annotated[str, typer.Argument(help="A cross-encoder in the hub's layout: a folder, or a hub name.")],
    questions: Annotated[
        str, typer.Argument(help="Questions with candidates, labels ignored; with --corpus, questions alone.")
    ],
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; by default train.")] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Take candidates from these texts by BM25: a text per line, or JSONL.")
    ] = None,
    candidates: Annotated[int, typer.Option(min=2, help="With --corpus: candidates per question.")] = 100,
    exits: Annotated[
        str | None, typer.Option(help="Layers with exits, 0 for exit 0: 0,2,4. By default exit 0 and four layers.")
    ] = None,
    keep_best: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="The model's best candidate survives in this share of questions; by default 0.95."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="The confidence level of --keep-best.")] = 0.95,
    budget: Annotated[
        float | None, typer.Option(min=0, max=1, help="Instead: the best plan whose relative cost is at most this.")
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Instead: the cheapest plan that loses at most this share of agreement."),
    ] = None,
    joint: Annotated[
        bool,
        typer.Option("--joint", help="Fine-tune the layers too; the last exit then changes a little."),
    ] = False,
    epochs: Annotated[int, typer.Option(min=1, help="With --joint: epochs of fine-tuning.")] = 10,
    seed: Annotated[
        int, typer.Option(min=0, help="Determines which questions are used to train, to choose and to test.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Make a cascade of your own cross-encoder, which stays its last exit, from questions without labels."""
    from cascada import api
    from cascada.cli.progress import progress_of_steps

    with progress_of_steps() as on_progress:
        result = api.accelerate(
            model,
            questions,
            out,
            root=root,
            split=split,
            corpus=corpus,
            candidates=candidates,
            exits=whole_numbers(exits, "--exits"),
            keep_best=keep_best,
            confidence=confidence,
            budget=budget,
            loss=loss,
            joint=joint,
            epochs=epochs,
            seed=seed,
            on_progress=on_progress,
        )
    if as_json:
        typer.echo(json.dumps(result.to_dict()))
        return
    from rich.console import Console

    Console().print(result)
