"""`cascada tune MODEL DATA`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cascada.cli.options import AsJson, Root, Store, split_or
from cascada.cli.progress import progress
from cascada.core.errors import CascadaError, require

if TYPE_CHECKING:
    from cascada.data import Group
    from cascada.ranking.plan import Plan
    from cascada.ranking.tuning import ExitScores, Tuning

PICTURES = (".png", ".svg", ".pdf")


def tune(
    model: Annotated[str, typer.Argument(help="A ranker's folder, or two rankers as A+B.")],
    data: Annotated[str | None, typer.Argument(help="A known name (with --root), a file, NAME:FILE, or hf:ID.")] = None,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; dev if not given.")] = None,
    mode: Annotated[str, typer.Option(help="Which questions count: clean, no-all-negative or raw.")] = "clean",
    measure: Annotated[str, typer.Option(help="What the front and the choice go by: MAP, MRR, P@1, nDCG@10 …")] = "MAP",
    grid: Annotated[
        Literal["default", "paper"], typer.Option(help="Ratios at each exit: 0 to 0.6, or the paper's 0.1 to 0.6.")
    ] = "default",
    ratios: Annotated[str | None, typer.Option(help="Ratios of your own for the grid: 0,0.2,0.4.")] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, max=1, help="Choose the best that costs at most this share.")
    ] = None,
    loss: Annotated[
        float | None, typer.Option(min=0, max=1, help="Choose the cheapest that loses at most this share; 0.01.")
    ] = None,
    keep_best: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Choose keep counts: the best candidate survives in this share of questions."),
    ] = None,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="How sure --keep-best has to be.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Which half of the questions to choose on.")] = 0,
    store: Store = None,
    scores: Annotated[Path | None, typer.Option(help="Keep every exit's scores here, and use them if there.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw quality against cost: a .png, .svg or .pdf.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Make the chosen plan the model's default.")] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Remove the model's saved plan, and do nothing else.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Choose how much each exit of a cascade drops, from one pass over a data set."""
    if forget:
        typer.echo(_forget(Path(model)))
        return
    for module in ("scipy", "matplotlib"):
        require(module, "eval", "tuning")
    # What may be wrong is found before the ranking, which takes long.
    choose = _chooser(budget, loss, keep_best, confidence, measure)
    own = _numbers(ratios)
    _check_outputs(model, scores, picture, save)
    groups, where = _groups(data, root, split, mode)
    found = _scores(model, groups, scores, store)
    with progress("replaying", total=len(found.questions), unit="questions") as each:
        tuning = choose(found, _plans(grid, own, len(found.exits)), measure=measure, seed=seed, each=each)
    if picture:
        _draw(tuning, picture, f"{model} on {where}")
    if save:
        _save(Path(model), tuning, found.exits, {"data": where, "seed": seed})
    if as_json:
        typer.echo(json.dumps(tuning.to_dict()))
    else:
        _print(tuning, f"{model} on {where}", saved=save)


def _forget(folder: Path) -> str:
    from cascada.ranking.plan import forget_plan

    if not folder.is_dir():
        raise CascadaError(f"There is no folder {folder}.")
    return f"{folder} drops nothing by default now." if forget_plan(folder) else f"{folder} has no saved plan."


def _chooser(
    budget: float | None, loss: float | None, keep_best: float | None, confidence: float, measure: str
) -> Callable[..., Tuning]:
    """The way to choose that the options ask for."""
    from cascada.metrics import Measure
    from cascada.ranking.tuning import LOSS, check_certainty, tune, tune_keeping_best, within_budget, within_loss

    if sum(option is not None for option in (budget, loss, keep_best)) > 1:
        raise CascadaError("--budget, --loss and --keep-best are three ways to choose: give one of them.")
    if keep_best is not None:
        check_certainty(keep_best, confidence)
        return partial(tune_keeping_best, at_least=keep_best, confidence=confidence)
    name = Measure.parse(measure).name
    if budget is not None:
        return partial(tune, wish=within_budget(budget, name))
    return partial(tune, wish=within_loss(LOSS if loss is None else loss, name))


def _numbers(ratios: str | None) -> list[float] | None:
    """`0,0.2,0.4` as numbers that are drop ratios."""
    if ratios is None:
        return None
    from cascada.ranking.tuning import grid_of

    try:
        numbers = [float(part) for part in ratios.split(",")]
    except ValueError:
        raise CascadaError(f"--ratios {ratios}: expected numbers with commas, such as 0,0.2,0.4.") from None
    grid_of(numbers, exits=2)
    return numbers


def _check_outputs(model: str, scores: Path | None, picture: Path | None, save: bool) -> None:
    from cascada.core.folder import read_shape

    for name, path in (("--scores", scores), ("--picture", picture)):
        if path and not path.resolve().parent.is_dir():
            raise CascadaError(f"{name} {path}: there is no folder {path.parent}.")
    if picture and picture.suffix not in PICTURES:
        raise CascadaError(f"--picture {picture}: a picture's name ends in {', '.join(PICTURES)}.")
    if save:
        read_shape(Path(model))  # a plan is saved into a ranker's own folder


def _groups(data: str | None, root: Path | None, split: str | None, mode: str) -> tuple[list[Group], str]:
    """The questions, and how to call them."""
    from cascada.data import load
    from cascada.data.statistics import checked

    if data is None:
        raise CascadaError("Name the data to tune on: cascada tune MODEL DATA.")
    split = split_or("dev", split, data)
    groups = load(data, root=root, split=split, mode=checked(mode))
    return groups, f"{data}{f' {split}' if split else ''} ({mode})"


def _scores(model: str, groups: list[Group], path: Path | None, store: Path | None) -> ExitScores:
    """Every exit's scores, from the file if it is there; else from the model, and into the file."""
    from cascada.ranking import Ranker
    from cascada.ranking.tuning import collect
    from cascada.ranking.tuning.scores_file import load_scores, save_scores
    from cascada.systems.load import model_digest

    digest = model_digest(model, store)
    if path and path.exists():
        return load_scores(path, digest, groups)
    ranker = Ranker.load(model, store=store)
    with progress("ranking", total=sum(len(group.candidates) for group in groups)) as advance:
        found = collect(ranker, groups, advance=advance)
    if path:
        save_scores(path, found, digest, groups)
    return found


def _plans(grid: str, own: list[float] | None, exits: int) -> list[Plan]:
    from cascada.ranking.tuning import PAPER, default_grid, grid_of

    if own is not None:
        return grid_of(own, exits)
    return grid_of(PAPER, exits) if grid == "paper" else default_grid(exits)


def _draw(tuning: Tuning, path: Path, what: str) -> None:
    from cascada.ranking.tuning.picture import draw

    settings = tuning.settings
    draw(tuning, path, f"{what}: {len(settings.plans):,} settings, {settings.questions:,} questions")


def _save(folder: Path, tuning: Tuning, exits: tuple[int, ...], about: dict[str, Any]) -> None:
    from cascada.ranking.plan import write_plan

    found = tuning.chosen.to_dict()
    write_plan(folder, tuning.chosen.plan, exits, about | {k: v for k, v in found.items() if k not in ("drop", "keep")})


def _print(tuning: Tuning, what: str, *, saved: bool) -> None:
    from rich.console import Console

    from cascada.ranking.tuning.report import report

    console = Console()
    console.print(what, soft_wrap=True, highlight=False, markup=False)
    for part in report(tuning):
        console.print(part, highlight=False, markup=False)
    if saved:
        console.print("Saved: the model now drops by this plan unless a call says otherwise.", highlight=False)
