"""Exit 0 of an exported ranker: its weights in a file of their own, its embeddings where the graphs have them.

`exit0.npz` holds the weights of the word pieces, the mean of the embedding table, and where in `weights.bin` the table
is: as float32, or as int8 with a scale for each row. The table is mapped into memory, not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cascada.core.folder import reading
from cascada.encoders.late_interaction import PieceVectors
from cascada.ranking.stage import Floats

if TYPE_CHECKING:
    from cascada.graphs.graph import WeightsFile

EXIT0_FILE = "exit0.npz"


def quantised_rows(table: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rows as int8, (rows, width), and a scale for each, (rows, 1)."""
    scale = np.maximum(np.abs(table).max(1, keepdims=True), 1e-12) / 127
    return np.round(table / scale).astype(np.int8), scale.astype(np.float32)


def save_vectors(folder: Path, table: Floats, vectors: PieceVectors, weights_file: WeightsFile, *, int8: bool) -> None:
    """Write the file. The table is added to the weights file, which stores it once, however many graphs use it."""
    if int8:
        rows, scale = quantised_rows(table)
        places = [weights_file.offset_of(rows), weights_file.offset_of(scale)]
    else:
        places = [weights_file.offset_of(table)]
    np.savez(
        folder / EXIT0_FILE,
        weights=vectors.weights,
        mean=vectors.mean,
        scaling=vectors.scaling,
        shape=table.shape,
        places=places,
    )


def load_vectors(folder: Path) -> PieceVectors:
    """Load what `save_vectors` wrote."""
    with reading(folder / EXIT0_FILE):
        return _vectors(folder)


def _vectors(folder: Path) -> PieceVectors:
    with np.load(folder / EXIT0_FILE, allow_pickle=False) as arrays:
        weights, mean, shape, places = (arrays[name] for name in ("weights", "mean", "shape", "places"))
        scale, shift = arrays["scaling"].tolist()
    file = folder / "weights.bin"
    if len(places) == 1:
        table = np.memmap(file, np.float32, "r", int(places[0]), tuple(shape))
        return PieceVectors(table, mean, weights, (scale, shift))
    quantised = np.memmap(file, np.int8, "r", int(places[0]), tuple(shape))
    row_scales = np.memmap(file, np.float32, "r", int(places[1]), (shape[0], 1))
    return PieceVectors(quantised, mean, weights, (scale, shift), row_scales)
