"""A benchmark for people: tables on a terminal or in Markdown, and a picture."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cascada.bench.report import candidates, heading, tables
from cascada.core.errors import CascadaError, require

if TYPE_CHECKING:
    from rich.console import Console
NAME = 32
"""As wide as the longest engine's name."""


def show(found: dict[str, Any], console: Console) -> None:
    """Aligned tables."""
    from rich import box
    from rich.table import Table

    console.print(heading(found), highlight=False, markup=False, soft_wrap=True)
    for one in tables(found):
        table = Table(title=one.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
        for place, name in enumerate(one.header):
            table.add_column(
                name, justify="right" if place else "left", overflow="fold", min_width=0 if place else NAME
            )
        for row in one.rows:
            table.add_row(*row)
        console.print(table, highlight=False, markup=False)


def markdown(found: dict[str, Any]) -> str:
    """The same tables for a page."""
    model, machine = heading(found).split("\n")
    parts = [f"**{model}**\n\n{machine}."]
    for one in tables(found):
        lines = [one.header, ["---", *("--:" for _ in one.header[1:])], *one.rows]
        table = "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
        parts.append(f"{one.title}:\n\n{table}")
    return "\n\n".join(parts) + "\n"


def draw(found: dict[str, Any], path: Path) -> None:
    """Time against candidates, both in powers of ten, a line an engine; the ending of `path` says the format."""
    require("matplotlib", "eval", "drawing")
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    panel = figure.subplots()
    peers, own = cycle(colormaps["Greys"]([0.9, 0.7, 0.55, 0.42, 0.3])), cycle(colormaps["tab10"].colors)  # type: ignore[attr-defined]
    for row in found["engines"]:
        if not row["cells"]:
            continue
        mine = row["engine"].startswith("cascada")
        counts, seconds = zip(*((cell["candidates"], cell["median"]) for cell in row["cells"]), strict=True)
        style: dict[str, Any] = {"marker": "o" if mine else "s", "markersize": 4, "linestyle": "-" if mine else "--"}
        panel.plot(counts, seconds, color=next(own if mine else peers), label=row["engine"], **style)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(counted := candidates(found), [f"{count:,}" for count in counted], minor=False)
    panel.minorticks_off()
    panel.set_xlabel("candidates")
    panel.set_ylabel("seconds, median")
    model = found["model"]
    panel.set_title(
        f"{model['layers']} layers of {model['hidden']}, {found['machine']['cpu']['cores']} cores", loc="left"
    )
    panel.grid(alpha=0.25, which="both")
    panel.legend(frameon=False, fontsize=8)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CascadaError(f"{path} cannot be drawn: {' '.join(str(error).split())}.") from error
