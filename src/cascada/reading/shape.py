"""A reader without its weights: its shape, and the check that a folder holds a reader."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.core.folder import READER, SHAPE_FILE, kind_of, read_exported_shape

GRAPH = "reader"
"""The name of an exported reader's graph."""


@dataclass(frozen=True)
class ReaderShape:
    exits: tuple[int, ...]
    """Always one: the number of layers."""
    max_length: int = 256
    """Tokens of a window, including the question's."""
    overlap: int = 64
    """Tokens that a window shares with the previous one."""
    dropout: float = 0.1


@dataclass(frozen=True, kw_only=True)
class ExportedReader:
    """What the engine has to know of an exported reader before it reads the graph."""

    exits: tuple[int, ...]
    max_length: int
    overlap: int
    pad_id: int
    precision: str
    """How the matrix products are computed: int8 or fp32."""


def read_exported(folder: Path) -> ExportedReader:
    """The shape of an exported reader, after the checksums of all of its files were verified."""
    return read_exported_shape(folder, ExportedReader)


def check_reader(folder: Path) -> None:
    """Reject a folder that does not hold a reader."""
    if folder.is_dir() and not (folder / SHAPE_FILE).is_file():
        raise CascadaError(f"{folder} is not a reader: it has no {SHAPE_FILE}. Train one; see docs/reader.md.")
    if kind_of(folder) != READER:
        raise CascadaError(f"{folder} is not a reader but a ranker. Train a reader; see docs/reader.md.")
