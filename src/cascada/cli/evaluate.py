"""`cascada evaluate MODEL DATA`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import AsJson, Depth, Drop, FirstStage, Keep, Root, Source, Store, ratios, whole_numbers
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.api import Evaluated


def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            help="A ranker's folder, bm25, cosine:FOLDER, late:FOLDER, two of them as A+B, or a TREC run file; or a "
            "reader's folder, with a file in SQuAD's layout as DATA."
        ),
    ],
    data: Source,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; by default test.")] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="clean leaves out questions whose candidates are all correct or all incorrect; or raw, the default "
            "for test collections and with --qrels; or no-all-negative."
        ),
    ] = None,
    first_stage: FirstStage = None,
    depth: Depth = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgements in TREC's or BEIR's layout, in place of the labels of the data.")
    ] = None,
    relevant: Annotated[
        int | None,
        typer.Option(
            min=1, help="With graded relevance: what counts as correct in MAP, MRR, P and R. nDCG counts grades."
        ),
    ] = None,
    store: Store = None,
    drop: Drop = None,
    keep: Keep = None,
    measures: Annotated[str, typer.Option(help="Measures, separated by commas: MAP,MRR,P@1,nDCG@10,R@5.")] = "",
    run: Annotated[Path | None, typer.Option(help="Write the ranking to this file as a TREC run.")] = None,
    against: Annotated[
        Path | None, typer.Option(help="Another TREC run: test whether the difference is significant.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a ranker on a data set, as trec_eval does; or a reader, by exact match and F1."""
    from cascada import api
    from cascada.cli.progress import progress_of_steps
    from cascada.data import write_run
    from cascada.metrics import DEFAULT_MEASURES

    names = [name.strip() for name in measures.split(",")] if measures else DEFAULT_MEASURES
    if run and not run.resolve().parent.is_dir():
        raise CascadaError(f"--run {run}: there is no folder {run.parent}.")
    drop_ratios, counts = ratios(drop), whole_numbers(keep, "--keep")
    with progress_of_steps() as on_progress:
        result = api.evaluate(
            model,
            data,
            root=root,
            split=split,
            mode=mode,
            qrels=qrels,
            relevant=relevant,
            first_stage=first_stage,
            depth=depth,
            measures=names,
            drop=drop_ratios,
            keep=counts,
            store=store,
            against=against,
            on_progress=on_progress,
        )
    if run:
        if not result.run:
            raise CascadaError("--run is for rankers: a reader ranks nothing.")
        write_run(result.run, run)
    if as_json:
        typer.echo(json.dumps(result.to_dict()))
    else:
        _print(result, against)


def _print(result: Evaluated, against: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    table.add_column("")
    table.add_column("value", justify="right")
    if result.first_stage:
        table.add_column("first stage", justify="right")
    if against:
        for name in (f"over {against.name}", "p (t-test)", "p (randomisation)"):
            table.add_column(name, justify="right")
    for name, value in result.measures.items():
        cells = [name, f"{value:.4f}"]
        if result.first_stage:
            cells.append(f"{result.first_stage[name]:.4f}")
        if against:
            comparison = result.comparisons[name]
            t_p = "–" if comparison.t_p is None else f"{comparison.t_p:.4f}"
            cells += [f"{comparison.difference:+.4f}", t_p, f"{comparison.randomisation_p:.4f}"]
        table.add_row(*cells)
    console = Console()
    console.print(f"{result.title}, {result.questions} questions", soft_wrap=True, highlight=False, markup=False)
    console.print(table)
    if result.relevant:
        typer.echo(
            f" graded relevance: nDCG counts the grades; correct in the other measures from {result.relevant} on"
        )
    costs = result.costs
    if "flops_share" in costs:  # for a ranker without layers, the cost is relative to nothing
        layers, operations = costs["relative_cost"], costs["flops_share"]
        spread = f"95th percentile {costs['relative_cost_p95']:.3f}, FLOPs {operations:.3f}"
        typer.echo(f" cost relative to running every candidate to the last exit: {layers:.3f} ({spread})")
        typer.echo(f" calibration error of the scores: {costs['calibration_error']:.3f}")
