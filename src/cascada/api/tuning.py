"""Tuning of a cascade's drop plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from cascada.api.arguments import Data, LocalPath, OnProgress, count_pairs, load_data, reporting
from cascada.core.errors import CascadaError, require
from cascada.core.folder import read_shape
from cascada.core.pictures import check_picture
from cascada.data import Group
from cascada.metrics import Measure
from cascada.ranking import Ranker
from cascada.ranking.plan import Plan, with_least
from cascada.ranking.plan_file import write_plan
from cascada.ranking.tuning import (
    LOSS,
    PAPER,
    ExitScores,
    Tuning,
    check_certainty,
    collect,
    default_grid,
    grid_of,
    tune_keeping_best,
    within_budget,
    within_loss,
)
from cascada.ranking.tuning import tune as tune_scores
from cascada.ranking.tuning.picture import draw
from cascada.ranking.tuning.scores_file import load_scores, save_scores
from cascada.systems.load import model_digest


def tune(
    model: LocalPath,
    data: Data,
    *,
    root: LocalPath | None = None,
    split: str | None = None,
    mode: str = "clean",
    measure: str = "MAP",
    grid: Literal["default", "paper"] | Sequence[float] = "default",
    budget: float | None = None,
    loss: float | None = None,
    keep_best: float | None = None,
    margins: bool = False,
    at_least: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    store: LocalPath | None = None,
    scores: LocalPath | None = None,
    picture: LocalPath | None = None,
    save: bool = False,
    on_progress: OnProgress | None = None,
) -> Tuning:
    """Choose how many candidates each exit of a cascade drops, from one pass over a data set.

    `model` is whatever `Ranker.load` takes, and `data` is that of `evaluate`, with `dev` as the default split. Every
    plan of the `grid` is replayed: the default grid, the paper's, or all combinations of your own drop ratios. The plan
    is chosen by `measure` in one of three ways:

    - `budget`: the best plan whose relative cost is at most this;
    - `loss`: the cheapest plan that loses at most this share of the full model's measure; the default, with 0.01;
    - `keep_best`: keep counts with which the full model's best candidate survives in this share of questions, with this
      `confidence`; with `margins`, margins instead: what is dropped then depends on each question's scores.

    With `at_least`, no exit drops below this many candidates, so that short lists are left alone: one number, or one
    for each exit but the last.

    It is chosen on one half of the questions, drawn by `seed`, and checked on the other. `scores` is a file that keeps
    the scores of every exit, so that the model need not run again. `picture` plots quality against cost. `save` makes
    the plan the default of the model, whose folder must be given as `model`.
    """
    for module in ("scipy", "matplotlib"):
        require(module, "eval", "tuning")
    if keep_best is not None and not isinstance(at_least, (int, type(None))):
        raise CascadaError(f"at_least is {at_least!r}; with keep_best, it is one number for all exits.")
    least = at_least if isinstance(at_least, int) else None
    choose = chooser(budget, loss, keep_best, confidence, Measure.parse(measure).name, margins=margins, least=least)
    ratios = _ratios(grid)
    if scores and not Path(scores).resolve().parent.is_dir():
        raise CascadaError(f"The scores {scores} cannot be written: there is no folder {Path(scores).parent}.")
    if picture:
        check_picture(Path(picture))
    if save:
        read_shape(Path(model))  # a plan is saved in a ranker's own folder
    groups, data_name = load_data(data, root, split, mode, default_split="dev")
    exit_scores = _exit_scores(str(model), groups, scores, store, on_progress)
    exits = exit_scores.exits
    plans = default_grid(len(exits), free=exit_scores.free) if ratios is None else grid_of(ratios, len(exits))
    if at_least is not None:
        plans = [with_least(plan, at_least) for plan in plans]
    with reporting(on_progress, "replaying", len(exit_scores.questions), "questions") as advance:
        tuning = choose(exit_scores, plans, measure=measure, seed=seed, advance=advance)
    tuning = replace(tuning, title=f"{model} on {data_name}")
    if picture:
        draw(tuning, Path(picture))
    if save:
        chosen = tuning.chosen.to_dict()
        about = {
            "data": data_name,
            "seed": seed,
            **{k: v for k, v in chosen.items() if k not in ("drop", "keep", "margin", "at_least")},
        }
        write_plan(Path(model), tuning.chosen.plan, read_shape(Path(model))["exits"], about)
    return tuning


def _ratios(grid: str | Sequence[float]) -> Sequence[float | Decimal] | None:
    """The drop ratios of a grid, checked; None for the default ones, which depend on the number of exits."""
    if grid == "default":
        return None
    if isinstance(grid, str) and grid != "paper":
        raise CascadaError(f"grid is {grid!r}; it must be default, paper, or a list of drop ratios.")
    ratios: Sequence[float | Decimal] = PAPER if isinstance(grid, str) else [*grid]
    grid_of(ratios, exits=2)
    return ratios


def chooser(
    budget: float | None,
    loss: float | None,
    keep_best: float | None,
    confidence: float,
    measure: str,
    *,
    margins: bool = False,
    least: int | None = None,
) -> Callable[..., Tuning]:
    """A function that chooses a plan in the way that the arguments ask for."""
    if sum(value is not None for value in (budget, loss, keep_best)) > 1:
        raise CascadaError("budget, loss and keep_best are three ways to choose a plan: give one of them.")
    for name, share in (("budget", budget), ("loss", loss)):
        if share is not None and not 0 <= share <= 1:
            raise CascadaError(f"{name} is {share!r}; it must be a number from 0 to 1.")
    if margins and keep_best is None:
        raise CascadaError("Margins are chosen by how often the best candidate survives: give keep_best too, say 0.95.")
    if keep_best is not None:
        check_certainty(keep_best, confidence)
        guarantee: dict[str, Any] = {
            "at_least": keep_best,
            "confidence": confidence,
            "margins": margins,
            "least": least or 1,
        }

        def choose(scores: ExitScores, plans: Sequence[Plan], **settings: Any) -> Tuning:
            return tune_keeping_best(scores, plans, **guarantee, **settings)

        return choose
    criterion = (
        within_loss(LOSS if loss is None else loss, measure) if budget is None else within_budget(budget, measure)
    )
    return lambda scores, plans, **settings: tune_scores(scores, plans, criterion, **settings)


def _exit_scores(
    model: str, groups: list[Group], path: LocalPath | None, store: LocalPath | None, on_progress: OnProgress | None
) -> ExitScores:
    """The scores of every exit: from the file if it exists, otherwise from the model, and saved in the file."""
    digest = model_digest(model, store)
    if path and Path(path).exists():
        return load_scores(Path(path), digest, groups)
    ranker = Ranker.load(model, store=store)
    with reporting(on_progress, "ranking", count_pairs(groups), "pairs") as advance:
        scores = collect(ranker, groups, advance=advance)
    if path:
        save_scores(Path(path), scores, digest, groups)
    return scores
