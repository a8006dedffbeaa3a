"""Read the results that `cascada bench --json` printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cascada.bench.report import heading, tables
from cascada.core.errors import CascadaError, described


def read_results(path: Path) -> list[dict[str, Any]]:
    """The results in a file: those of one run, or the list that is printed for several files."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CascadaError(f"{path} cannot be read as results: {described(error)}.") from error
    reports = content if isinstance(content, list) else [content]
    if not reports or not all(_can_be_shown(report) for report in reports):
        raise CascadaError(f"{path} has no results of `cascada bench --json`.")
    return reports


def _can_be_shown(report: Any) -> bool:
    """Whether a report has everything that the tables show: they are made once to find out."""
    try:
        heading(report)
        tables(report)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        return False
    return True
