"""`cascada evaluate MODEL DATA`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson, Drop, Keep, Root, Source, Store, ratios, split_or, whole_numbers
from cascada.core.errors import CascadaError, require

if TYPE_CHECKING:
    from cascada.data import Group, Run
    from cascada.metrics import Comparison, Evaluation
    from cascada.ranking import Ranking


def evaluate(
    model: Annotated[
        str, typer.Argument(help="A ranker's folder, bm25, cosine:FOLDER, two of them as A+B, or a run file.")
    ],
    data: Source,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; test if not given.")] = None,
    mode: Annotated[
        str, typer.Option(help="clean leaves out questions whose candidates are all wrong or all right; or raw, …")
    ] = "clean",
    store: Store = None,
    drop: Drop = None,
    keep: Keep = None,
    measures: Annotated[str, typer.Option(help="What to measure, with commas: MAP,MRR,P@1,nDCG@10,R@5.")] = "",
    run: Annotated[Path | None, typer.Option(help="Write the ranking as a TREC run.")] = None,
    against: Annotated[Path | None, typer.Option(help="Another TREC run: is the difference significant?")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a ranker on a data set, as trec_eval does."""
    require("pytrec_eval", "eval", "measuring")
    from cascada.data import load, qrels, read_run, write_run
    from cascada.data.statistics import checked
    from cascada.metrics import DEFAULT_MEASURES, Measure, compare
    from cascada.metrics import evaluate as measure

    names = tuple(name.strip() for name in measures.split(",")) if measures else DEFAULT_MEASURES
    for name in names:  # what may be wrong is found before the ranking, which takes long
        Measure.parse(name)
    split = split_or("test", split, data)
    groups = load(data, root=root, split=split, mode=checked(mode))
    other = measure(read_run(against), qrels(groups), names) if against else None
    if run and not run.resolve().parent.is_dir():
        raise CascadaError(f"--run {run}: there is no folder {run.parent}.")
    started = time.perf_counter()
    ranked, costs = _ranked(model, groups, drop, keep, store)
    seconds = time.perf_counter() - started
    result = measure(ranked, qrels(groups), names)
    if run:
        write_run(ranked, run)
    compared = {name: compare(result, other, name) for name in result.mean} if other else {}
    if as_json:
        typer.echo(json.dumps(_as_dict(result, compared, seconds) | costs))
    else:
        _print(model, f"{data}{f' {split}' if split else ''} ({mode})", result, compared, against)
        _print_costs(costs)


def _ranked(
    model: str, groups: list[Group], drop: str | None, keep: str | None, store: Path | None
) -> tuple[Run, dict[str, float]]:
    """A run, read from a file or made by ranking every group, and what the ranking cost."""
    from cascada.data import read_run

    if Path(model).is_file():
        if drop or keep or store:
            raise CascadaError("--drop, --keep and --store belong to a ranker; a run file is measured as it is.")
        return read_run(model), {}
    from cascada.cli.progress import progress
    from cascada.ranking import Ranker
    from cascada.ranking.runs import run_of

    # BM25 takes IDF from all the candidates at hand, as a search engine does from its index.
    ranker = Ranker.load(model, store=store, texts=(text for group in groups for text in group.texts))
    spent = Costs([group for group in groups if group.candidates])
    drops, counts = ratios(drop), whole_numbers(keep, "--keep")
    with progress("ranking", total=sum(len(group.candidates) for group in groups)) as advance:
        run = run_of(ranker, groups, drop=drops, keep=counts, each=lambda one: advance(spent.add(one)))
    return run, spent.means()


class Costs:
    """What rankings cost relative to running every candidate to the end, question by question, and how far their scores
    are from being probabilities.
    """

    def __init__(self, groups: list[Group]) -> None:
        """Rankings come in the groups' order."""
        self.groups = iter(groups)
        self.layers: list[float] = []
        self.operations: list[float] = []
        self.scores: list[float] = []
        self.right: list[bool] = []

    def add(self, ranking: Ranking) -> int:
        """Take note of a ranking; how many candidates it has."""
        self.layers.append(ranking.relative_cost)
        if ranking.full_flops:
            self.operations.append(ranking.flops / ranking.full_flops)
        labels = next(self.groups).labels
        self.scores += [item.score for item in ranking]
        self.right += [labels[item.index] > 0 for item in ranking]
        return len(ranking)

    def means(self) -> dict[str, float]:
        """Over the questions; operations, and the scores' error, only if the ranker counts operations: one that does
        not compares words or angles.
        """
        if not self.operations:
            return {"relative_cost": fmean(self.layers)} if self.layers else {}
        import numpy as np

        from cascada.metrics.calibration import calibration_error

        error = calibration_error(np.array(self.scores), np.array(self.right))
        costs = {"relative_cost": fmean(self.layers), "flops_share": fmean(self.operations)}
        return costs | {"calibration_error": error}


def _as_dict(result: Evaluation, compared: dict[str, Comparison], seconds: float) -> dict[str, Any]:
    found: dict[str, Any] = {**result.mean, "questions": result.questions, "seconds": round(seconds, 3)}
    if compared:
        found["against"] = {
            name: {"difference": one.difference, "t_p": one.t_p, "randomisation_p": one.randomisation_p}
            for name, one in compared.items()
        }
    return found


def _print(model: str, data: str, result: Evaluation, compared: dict[str, Comparison], against: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    table.add_column("")
    table.add_column("value", justify="right")
    if compared:
        for name in (f"over {against.name if against else ''}", "p (t-test)", "p (randomisation)"):
            table.add_column(name, justify="right")
    for name, value in result.mean.items():
        cells = [name, f"{value:.4f}"]
        if compared:
            one = compared[name]
            t_p = "–" if one.t_p is None else f"{one.t_p:.4f}"
            cells += [f"{one.difference:+.4f}", t_p, f"{one.randomisation_p:.4f}"]
        table.add_row(*cells)
    console = Console()
    console.print(f"{model} on {data}, {result.questions} questions", soft_wrap=True, highlight=False, markup=False)
    console.print(table)


def _print_costs(costs: dict[str, float]) -> None:
    if "flops_share" in costs:  # a ranker without layers has nothing to be relative to
        layers, operations = costs["relative_cost"], costs["flops_share"]
        typer.echo(f" cost relative to running everyone to the end: {layers:.3f} (operations {operations:.3f})")
        typer.echo(f" calibration error of the scores: {costs['calibration_error']:.3f}")
