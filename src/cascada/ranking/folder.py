"""What can be known of a ranker's folder without loading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cascada.errors import CascadaError

SHAPE_FILE = "cascada.json"
FORMAT = 1

COMPARE_AGGREGATE, DECOUPLED = "compare-aggregate", "decoupled"
"""The `kind` of a ranker that is no plain transformer; a transformer's folder names none."""
READER = "reader"
"""The `kind` of what is no ranker: it finds short answers."""


def read_shape(folder: Path) -> dict[str, Any]:
    """The shape written in `folder`/cascada.json, as keyword arguments."""
    path = folder / SHAPE_FILE
    if not folder.is_dir():
        raise CascadaError(f"There is no folder {folder}.")
    if not path.is_file():
        raise CascadaError(f"{folder} is not a ranker: it has no {SHAPE_FILE}. Train one with `cascada train`.")
    try:
        shape = json.loads(path.read_text(encoding="utf-8"))
        version = shape.pop("format")
        shape["exits"] = tuple(int(layer) for layer in shape["exits"])
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise CascadaError(f"{path} is damaged: {error!r}.") from error
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}.")
    return dict(shape)


def refuse_a_ranker(folder: Path) -> None:
    """A folder that something is written to must not hold a ranker."""
    if (folder / SHAPE_FILE).exists():
        raise CascadaError(f"{folder} is a ranker already; name another folder.")


def own_card(folder: Path) -> str:
    """The ranker's card; nothing if it has none."""
    path = folder / "README.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""
