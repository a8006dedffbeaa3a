"""What can be known of a reader's folder without loading it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cascada.errors import CascadaError
from cascada.ranking.folder import READER, SHAPE_FILE, read_shape


def read_reader_shape(folder: Path) -> dict[str, Any]:
    """The shape as keyword arguments."""
    if folder.is_dir() and not (folder / SHAPE_FILE).is_file():
        raise CascadaError(f"{folder} is not a reader: it has no {SHAPE_FILE}. Train one; see docs/reader.md.")
    shape = read_shape(folder)
    if shape.pop("kind", None) != READER:
        raise CascadaError(f"{folder} is not a reader but a ranker. Train a reader; see docs/reader.md.")
    return shape
