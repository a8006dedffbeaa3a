"""Markdown tables, for the scripts in this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def markdown(rows: Sequence[Mapping[str, object]], names: Mapping[str, str]) -> str:
    """A table with a column for each of `names` (key of the rows → heading). Floats have three digits."""
    lines = [f"| {' | '.join(names.values())} |", "|---" * len(names) + "|"]
    for row in rows:
        cells = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in (row[key] for key in names)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
