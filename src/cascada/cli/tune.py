"""`cascada tune MODEL DATA`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from cascada.cli.options import AsJson, Root, Store, numbers, whole_numbers
from cascada.core.errors import CascadaError


def tune(
    model: Annotated[str, typer.Argument(help="A ranker's folder, or two rankers as A+B.")],
    data: Annotated[str | None, typer.Argument(help="A known name (with --root), a file, NAME:FILE, or hf:ID.")] = None,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; by default dev.")] = None,
    mode: Annotated[str, typer.Option(help="Which questions to use: clean, no-all-negative or raw.")] = "clean",
    measure: Annotated[str, typer.Option(help="The measure to tune for: MAP, MRR, P@1, nDCG@10 …")] = "MAP",
    grid: Annotated[
        Literal["default", "paper"],
        typer.Option(help="Drop ratios to try at each exit: 0 to 0.6, or the paper's 0.1 to 0.6."),
    ] = "default",
    ratios: Annotated[str | None, typer.Option(help="Drop ratios of your own to try instead: 0,0.2,0.4.")] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, max=1, help="Choose the best plan whose relative cost is at most this.")
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Choose the cheapest plan that loses at most this share; by default 0.01."),
    ] = None,
    keep_best: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Choose keep counts with which the best candidate survives in this share of questions."
        ),
    ] = None,
    margins: Annotated[
        bool,
        typer.Option(
            "--margins", help="With --keep-best: margins instead of keep counts; what is dropped depends on the scores."
        ),
    ] = False,
    at_least: Annotated[
        str | None,
        typer.Option(
            help="Never drop below this many candidates: short lists are left alone. 40, or 60,20 for two exits."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="The confidence level of --keep-best.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Determines which half of the questions to choose on.")] = 0,
    store: Store = None,
    scores: Annotated[
        Path | None, typer.Option(help="Save the scores of every exit in this file, or use them if it exists.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Plot quality against cost: a .png, .svg or .pdf.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Make the chosen plan the model's default.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Only remove the model's saved plan.")] = False,
    as_json: AsJson = False,
) -> None:
    """Choose how many candidates each exit of a cascade drops, from one pass over a data set."""
    if forget:
        typer.echo(_forget(Path(model)))
        return
    if data is None:
        raise CascadaError("Name the data to tune on: cascada tune MODEL DATA.")
    from cascada import api
    from cascada.cli.progress import progress_of_steps

    own_ratios = numbers(ratios, "--ratios")
    with progress_of_steps() as on_progress:
        tuning = api.tune(
            model,
            data,
            root=root,
            split=split,
            mode=mode,
            measure=measure,
            grid=own_ratios or grid,
            budget=budget,
            loss=loss,
            keep_best=keep_best,
            margins=margins,
            at_least=_one_or_more(whole_numbers(at_least, "--at-least")),
            confidence=confidence,
            seed=seed,
            store=store,
            scores=scores,
            picture=picture,
            save=save,
            on_progress=on_progress,
        )
    if as_json:
        typer.echo(json.dumps(tuning.to_dict()))
        return
    from rich.console import Console

    console = Console()
    console.print(tuning, highlight=False, markup=False)
    if save:
        console.print("Saved: by default the model now drops candidates by this plan.", highlight=False)


def _one_or_more(least: list[int] | None) -> int | list[int] | None:
    """One number stands for all exits."""
    return least[0] if least and len(least) == 1 else least


def _forget(folder: Path) -> str:
    from cascada.ranking.plan_file import forget_plan

    if not folder.is_dir():
        raise CascadaError(f"There is no folder {folder}.")
    return f"{folder} drops nothing by default now." if forget_plan(folder) else f"{folder} has no saved plan."
