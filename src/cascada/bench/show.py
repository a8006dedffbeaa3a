"""Show a benchmark's results as tables, in a terminal or in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cascada.bench.report import heading, tables

if TYPE_CHECKING:
    from rich.console import Console

NAME_WIDTH = 32
"""Width of the longest engine's name."""


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
