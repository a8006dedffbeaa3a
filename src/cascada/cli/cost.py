"""`cascada cost`: the paper's arithmetic, without a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson, Drop, Keep, ratios, whole_numbers
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cascada.ranking.cost import Course


def cost(
    layers: Annotated[int, typer.Option(min=1, help="How many layers the model has.")] = 12,
    exits: Annotated[str | None, typer.Option(help="Layers after which candidates may leave: 4,6,8,10,12.")] = None,
    drop: Drop = None,
    keep: Keep = None,
    candidates: Annotated[int, typer.Option(min=1, help="How many candidates a question has.")] = 128,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Each exit is a model of its own: the sequential ranker.")
    ] = False,
    join: Annotated[
        int, typer.Option(min=0, help="A decoupled ranker's: layers below it are cached, and not counted.")
    ] = 0,
    fits: Annotated[int | None, typer.Option(min=1, help="The batch that memory holds: how many may start?")] = None,
    tokens: Annotated[
        str | None, typer.Option(help="Tokens of a pair, or of several with commas: count operations.")
    ] = None,
    hidden: Annotated[int, typer.Option(min=1, help="The model's hidden size, for --tokens.")] = 384,
    feed_forward: Annotated[int, typer.Option(min=1, help="The model's feed-forward size, for --tokens.")] = 1536,
    as_json: AsJson = False,
) -> None:
    """Say who survives, and what a cascade costs next to running every candidate through every layer."""
    if join and tokens is not None:
        raise CascadaError("--tokens counts whole layers, and a decoupled ranker has less to do: leave it out.")
    course = _course(layers, exits, drop, keep, sequential, join)
    found = _found(course, candidates)
    if fits is not None:
        found["fits"] = _fitting(course, fits)
    if tokens is not None:
        found["flops"] = _flops(course, candidates, tokens, hidden, feed_forward)
    if as_json:
        typer.echo(json.dumps(found))
    else:
        _print(found)


def _course(layers: int, exits: str | None, drop: str | None, keep: str | None, sequential: bool, join: int) -> Course:
    from cascada.ranking.cost import Course
    from cascada.ranking.plan import plan_of
    from cascada.systems.cascade.shape import default_exits

    places = tuple(whole_numbers(exits, "--exits") or (exit for exit in default_exits(layers) if exit > join))
    if not places or places[-1] != layers:
        said = f"--exits {exits}" if exits else f"--join {join}"
        raise CascadaError(f"{said}: the last exit must be the last layer, {layers}, above the join.")
    return Course(places, plan_of(ratios(drop), whole_numbers(keep, "--keep"), len(places)), sequential, join)


def _found(course: Course, candidates: int) -> dict[str, Any]:
    from cascada.ranking.cost import survivors_into

    survivors, spent = survivors_into(course.plan, candidates), course.layer_candidates(candidates)
    full = course.full * candidates
    rows = zip(course.exits, course.layers, survivors, spent, strict=True)
    return {
        "survivors": survivors,
        "relative_cost": course.relative_cost(candidates),
        "layer_candidates": sum(spent),
        "full_layer_candidates": full,
        "average_batch": course.average_batch(candidates),
        "stages": [
            {"exit": exit, "layers": layers, "candidates": n, "layer_candidates": cost, "share": cost / full}
            for exit, layers, n, cost in rows
        ],
    }


def _fitting(course: Course, limit: int) -> dict[str, Any]:
    largest = course.largest_batch(limit)
    return {
        "limit": limit,
        "candidates": largest,
        "average_batch": course.average_batch(largest),
        "factor": largest / limit,
    }


def _flops(course: Course, candidates: int, tokens: str, hidden: int, feed_forward: int) -> dict[str, Any]:
    import numpy as np

    from cascada.ranking.cost import Arithmetic

    lengths = whole_numbers(tokens, "--tokens") or []
    if min(lengths) < 1:
        raise CascadaError(f"--tokens {tokens}: a pair has at least 1 token.")
    arithmetic = Arithmetic(hidden, feed_forward)
    stages = course.flops(candidates, arithmetic, np.array(lengths))
    full = course.full_flops(candidates, arithmetic, np.array(lengths))
    return {"stages": stages, "total": sum(stages), "full": full, "share": sum(stages) / full}


def _print(found: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_table(found))
    for line in _remarks(found):
        console.print(line, soft_wrap=True)


def _table(found: dict[str, Any]) -> RenderableType:
    from rich import box
    from rich.table import Table

    operations = found.get("flops", {}).get("stages")
    table = Table(box=box.SIMPLE, show_footer=True)
    table.add_column("exit", "all", justify="right")
    table.add_column("layers", str(sum(stage["layers"] for stage in found["stages"])), justify="right")
    table.add_column("candidates in", justify="right")
    table.add_column("layer-candidates", f"{found['layer_candidates']:,}", justify="right")
    table.add_column("share", f"{found['relative_cost']:.3f}", justify="right")
    if operations:
        table.add_column("GFLOPs", f"{found['flops']['total'] / 1e9:,.1f}", justify="right")
    for row, stage in enumerate(found["stages"]):
        counts = (stage["exit"], stage["layers"], stage["candidates"], stage["layer_candidates"])
        more = [f"{operations[row] / 1e9:,.1f}"] if operations else []
        table.add_row(*(f"{count:,}" for count in counts), f"{stage['share']:.3f}", *more)
    return table


def _remarks(found: dict[str, Any]) -> list[str]:
    cost, full = found["relative_cost"], found["full_layer_candidates"]
    lines = [
        f"relative cost {cost:.3f} ({cost - 1:+.1%}): {found['layer_candidates']:,} of {full:,} layer-candidates",
        f"average batch {found['average_batch']:.1f}",
    ]
    if fits := found.get("fits"):
        lines.append(
            f"memory for a plain batch of {fits['limit']:,} lets {fits['candidates']:,} start "
            f"(average {fits['average_batch']:.1f}), {fits['factor']:.2f} times as many"
        )
    if flops := found.get("flops"):
        lines.append(f"{flops['total'] / 1e9:,.1f} of {flops['full'] / 1e9:,.1f} GFLOPs ({flops['share']:.3f})")
    return lines
