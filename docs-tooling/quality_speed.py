"""Draw docs/pictures/quality-speed.png from the first table of docs/speed.md, so that picture and table agree.

    python docs-tooling/quality_speed.py

Peers run the same weights with the same head. Where the table has no MAP of theirs, they stand at that of Cascada with
nobody dropped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cascada.bench.picture import draw

DOCS = Path(__file__).resolve().parent.parent / "docs"
OWN = {"cascada int8, nobody dropped": "cascada int8 α=0", "cascada int8, margins": "cascada int8, own plan"}
"""The rows of Cascada that have a name of their own, and what `cascada bench` calls them."""
NOBODY_DROPPED = next(iter(OWN))
EXITS = (0, 4, 6, 8, 10, 12)


def table_rows(page: str) -> list[list[str]]:
    """The cells of the page's first table, without its head."""
    lines = page[page.index("\n| drop after exits") :].lstrip("\n").split("\n\n")[0].splitlines()
    return [[cell.strip().replace("**", "") for cell in line.strip("|").split("|")] for line in lines[2:]]


def engines(rows: list[list[str]]) -> list[dict[str, Any]]:
    """What `cascada bench --json` says of each row that has a MAP, or is a peer's."""
    quality = {name: float(cells[4]) for name, *cells in rows if cells[4]}
    found = []
    for name, seconds, *_ in rows:
        peer = not name.startswith(("cascada", "0."))
        if peer or name in quality:
            engine = name if peer else OWN.get(name, f"cascada int8, drop {name}")
            cells = [{"candidates": 400, "median": float(seconds)}]
            found.append(
                {"engine": engine, "cells": cells, "quality": {"MAP": quality.get(name, quality[NOBODY_DROPPED])}}
            )
    return found


def main() -> None:
    rows = table_rows((DOCS / "speed.md").read_text(encoding="utf-8"))
    about = {
        "measure": "MAP",
        "data": "SQuAD dev, all sentences of the article",
        "questions": 200,
        "candidates_mean": 219,
    }
    results = {
        "machine": {"cpu": {"cores": 2}},
        "model": {"layers": 12, "hidden": 384, "exits": EXITS},
        "engines": engines(rows),
        "quality": about,
    }
    draw(results, DOCS / "pictures" / "quality-speed.png")


if __name__ == "__main__":
    main()
