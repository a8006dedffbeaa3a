"""`cascada cost`: the cost of a cascade, computed without a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson, Drop, Keep, ratios, whole_numbers
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cascada.ranking.cost import CostModel


def cost(
    layers: Annotated[int, typer.Option(min=1, help="Number of layers of the model.")] = 12,
    exits: Annotated[
        str | None, typer.Option(help="Layers after which candidates may be dropped: 4,6,8,10,12.")
    ] = None,
    drop: Drop = None,
    keep: Keep = None,
    candidates: Annotated[int, typer.Option(min=1, help="Number of candidates per question.")] = 128,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Each exit is a separate model, as in the sequential ranker.")
    ] = False,
    join: Annotated[
        int, typer.Option(min=0, help="Join of a decoupled ranker: layers below it are cached, and not counted.")
    ] = 0,
    fits: Annotated[
        int | None,
        typer.Option(min=1, help="The batch size that fits in memory: compute how many candidates may start."),
    ] = None,
    tokens: Annotated[
        str | None, typer.Option(help="Tokens of a pair, or of several pairs separated by commas: count FLOPs.")
    ] = None,
    hidden: Annotated[int, typer.Option(min=1, help="The model's hidden size, for --tokens.")] = 384,
    feed_forward: Annotated[int, typer.Option(min=1, help="The model's feed-forward size, for --tokens.")] = 1536,
    as_json: AsJson = False,
) -> None:
    """Compute the survivors and the cost of a cascade, relative to running every candidate through every layer."""
    if join and tokens is not None:
        raise CascadaError("--tokens counts whole layers, and a decoupled ranker computes less: leave it out.")
    model = _cost_model(layers, exits, drop, keep, sequential, join)
    result = _costs(model, candidates)
    if fits is not None:
        result["fits"] = _fitting(model, fits)
    if tokens is not None:
        result["flops"] = _flops(model, candidates, tokens, hidden, feed_forward)
    if as_json:
        typer.echo(json.dumps(result))
    else:
        _print(result)


def _cost_model(
    layers: int, exits: str | None, drop: str | None, keep: str | None, sequential: bool, join: int
) -> CostModel:
    from cascada.ranking.cost import CostModel
    from cascada.ranking.plan import plan_of
    from cascada.systems.cascade.shape import default_exits

    exit_layers = tuple(whole_numbers(exits, "--exits") or (exit for exit in default_exits(layers) if exit > join))
    if not exit_layers or exit_layers[-1] != layers:
        option = f"--exits {exits}" if exits else f"--join {join}"
        raise CascadaError(f"{option}: the last exit must be the last layer, {layers}, above the join.")
    plan = plan_of(ratios(drop), whole_numbers(keep, "--keep"), len(exit_layers))
    return CostModel(exit_layers, plan, sequential, join)


def _costs(model: CostModel, candidates: int) -> dict[str, Any]:
    from cascada.ranking.cost import survivors_into

    survivors, spent = survivors_into(model.plan, candidates), model.layer_candidates(candidates)
    full = model.full * candidates
    rows = zip(model.exits, model.layers, survivors, spent, strict=True)
    return {
        "survivors": survivors,
        "relative_cost": model.relative_cost(candidates),
        "layer_candidates": sum(spent),
        "full_layer_candidates": full,
        "average_batch": model.average_batch(candidates),
        "stages": [
            {"exit": exit, "layers": layers, "candidates": n, "layer_candidates": cost, "share": cost / full}
            for exit, layers, n, cost in rows
        ],
    }


def _fitting(model: CostModel, limit: int) -> dict[str, Any]:
    largest = model.largest_batch(limit)
    return {
        "limit": limit,
        "candidates": largest,
        "average_batch": model.average_batch(largest),
        "factor": largest / limit,
    }


def _flops(model: CostModel, candidates: int, tokens: str, hidden: int, feed_forward: int) -> dict[str, Any]:
    import numpy as np

    from cascada.ranking.cost import TransformerFlops

    lengths = whole_numbers(tokens, "--tokens") or []
    if min(lengths) < 1:
        raise CascadaError(f"--tokens {tokens}: a pair has at least 1 token.")
    counter = TransformerFlops(hidden, feed_forward)
    stages = model.flops(candidates, counter, np.array(lengths))
    full = model.full_flops(candidates, counter, np.array(lengths))
    return {"stages": stages, "total": sum(stages), "full": full, "share": sum(stages) / full}


def _print(result: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_table(result))
    for line in _remarks(result):
        console.print(line, soft_wrap=True)


def _table(result: dict[str, Any]) -> RenderableType:
    from rich import box
    from rich.table import Table

    operations = result.get("flops", {}).get("stages")
    table = Table(box=box.SIMPLE, show_footer=True)
    table.add_column("exit", "all", justify="right")
    table.add_column("layers", str(sum(stage["layers"] for stage in result["stages"])), justify="right")
    table.add_column("candidates in", justify="right")
    table.add_column("layer-candidates", f"{result['layer_candidates']:,}", justify="right")
    table.add_column("share", f"{result['relative_cost']:.3f}", justify="right")
    if operations:
        table.add_column("GFLOPs", f"{result['flops']['total'] / 1e9:,.1f}", justify="right")
    for row, stage in enumerate(result["stages"]):
        counts = (stage["exit"], stage["layers"], stage["candidates"], stage["layer_candidates"])
        more = [f"{operations[row] / 1e9:,.1f}"] if operations else []
        table.add_row(*(f"{count:,}" for count in counts), f"{stage['share']:.3f}", *more)
    return table


def _remarks(result: dict[str, Any]) -> list[str]:
    cost, full = result["relative_cost"], result["full_layer_candidates"]
    lines = [
        f"relative cost {cost:.3f} ({cost - 1:+.1%}): {result['layer_candidates']:,} of {full:,} layer-candidates",
        f"average batch {result['average_batch']:.1f}",
    ]
    if fits := result.get("fits"):
        lines.append(
            f"memory for a plain batch of {fits['limit']:,} is enough for {fits['candidates']:,} candidates "
            f"(average {fits['average_batch']:.1f}), {fits['factor']:.2f} times as many"
        )
    if flops := result.get("flops"):
        lines.append(f"{flops['total'] / 1e9:,.1f} of {flops['full'] / 1e9:,.1f} GFLOPs ({flops['share']:.3f})")
    return lines
