"""Readers in ONNX Runtime: they run the graph that `cascada export` writes. No torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cascada.graphs.session import TOKEN_BUDGET, Workers, session_of
from cascada.reading.reader import Batching, Reader
from cascada.reading.shape import GRAPH, read_exported
from cascada.reading.span import Floats
from cascada.text.pair_arrays import Ints
from cascada.text.windows import Windows, WindowTokenizer


def load(folder: Path, threads: int) -> Reader:
    """The exported reader in a folder; `threads` threads read its windows in parallel."""
    shape = read_exported(folder)
    tokenizer = WindowTokenizer.load(folder, max_length=shape.max_length, overlap=shape.overlap, pad_id=shape.pad_id)
    session = session_of(folder, GRAPH, shape.precision)
    inputs = {value.name for value in session.get_inputs()}

    def score(windows: Windows, rows: Ints) -> Floats:
        ids, _, types = windows.encoded.padded(rows, shape.pad_id)
        arrays = {"ids": ids, "types": types, "lengths": windows.encoded.lengths[rows]}
        feed = {name: value.astype(np.int32) for name, value in arrays.items() if name in inputs}
        return session.run(None, feed)[0]  # type: ignore[no-any-return]

    return Reader(score, tokenizer, Batching(TOKEN_BUDGET, Workers(threads).run))
