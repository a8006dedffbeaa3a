"""Show a benchmark's results: tables in a terminal or in Markdown, and a plot."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cascada.bench.report import candidates, heading, tables
from cascada.core.errors import CascadaError, require

if TYPE_CHECKING:
    from rich.console import Console

NAME_WIDTH = 32
"""Of the longest engine's name."""


def show(results: dict[str, Any], console: Console) -> None:
    """Print aligned tables."""
    from rich import box
    from rich.table import Table

    console.print(heading(results), highlight=False, markup=False, soft_wrap=True)
    for content in tables(results):
        table = Table(
            title=content.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
        )
        for place, name in enumerate(content.header):
            table.add_column(
                name, justify="right" if place else "left", overflow="fold", min_width=0 if place else NAME_WIDTH
            )
        for row in content.rows:
            table.add_row(*row)
        console.print(table, highlight=False, markup=False)


def markdown(results: dict[str, Any]) -> str:
    """The same tables in Markdown."""
    model, machine = heading(results).split("\n")
    parts = [f"**{model}**\n\n{machine}."]
    for content in tables(results):
        lines = [content.header, ["---", *("--:" for _ in content.header[1:])], *content.rows]
        table = "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
        parts.append(f"{content.title}:\n\n{table}")
    return "\n\n".join(parts) + "\n"


def draw(results: dict[str, Any], path: Path) -> None:
    """Plot time against candidates, both logarithmic, one line per engine. The suffix of `path` sets the format."""
    require("matplotlib", "eval", "drawing")
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    panel = figure.subplots()
    peers, own = cycle(colormaps["Greys"]([0.9, 0.7, 0.55, 0.42, 0.3])), cycle(colormaps["tab10"].colors)  # type: ignore[attr-defined]
    for row in results["engines"]:
        if not row["cells"]:
            continue
        mine = row["engine"].startswith("cascada")
        counts, seconds = zip(*((cell["candidates"], cell["median"]) for cell in row["cells"]), strict=True)
        style: dict[str, Any] = {"marker": "o" if mine else "s", "markersize": 4, "linestyle": "-" if mine else "--"}
        panel.plot(counts, seconds, color=next(own if mine else peers), label=row["engine"], **style)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(counted := candidates(results), [f"{count:,}" for count in counted], minor=False)
    panel.minorticks_off()
    panel.set_xlabel("candidates")
    panel.set_ylabel("seconds, median")
    model = results["model"]
    panel.set_title(
        f"{model['layers']} layers of {model['hidden']}, {results['machine']['cpu']['cores']} cores", loc="left"
    )
    panel.grid(alpha=0.25, which="both")
    panel.legend(frameon=False, fontsize=8)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CascadaError(f"{path} cannot be drawn: {' '.join(str(error).split())}.") from error
