"""The ONNX Runtime engine of decoupled rankers: it runs the graphs that `cascada export` writes. No torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime

from cascada.core.errors import CascadaError
from cascada.graphs.piece_vectors import load_vectors
from cascada.graphs.session import TOKEN_BUDGET, Workers, graph_file, session_of, stage_name
from cascada.ranking.stage import Bools, Floats, Ints
from cascada.systems.decoupled.cost import DecoupledFlops
from cascada.systems.decoupled.join import Array, load_join_weights
from cascada.systems.decoupled.shape import (
    READ_DOCUMENT,
    READ_QUESTION,
    ExportedDecoupled,
    document_graph,
    read_exported,
)
from cascada.text.sides import SideTokenizer


class OnnxEngine:
    """The parts of an exported ranker."""

    budget = TOKEN_BUDGET

    def __init__(self, folder: Path, threads: int) -> None:
        self.shape: ExportedDecoupled = read_exported(folder)
        shape = self.shape
        self.fingerprint = shape.fingerprint
        self.width = shape.keep or shape.hidden
        self.join_weights = load_join_weights(folder, shape.join)
        self.exit_zero = load_vectors(folder) if shape.exit_zero else None
        self.flop_counts = DecoupledFlops(shape, shape.hidden, shape.feed_forward, shape.attention_heads)
        self.tokenizer = SideTokenizer.load(folder, **shape.lengths, pad_id=shape.pad_id)
        self.run_batches = Workers(threads).run
        self._question = session_of(folder, "question", shape.precision)
        parts = [document_graph(first, last) for first, last in shape.tower_parts]
        self._document = [session_of(folder, name, shape.precision) for name in parts]
        self._read = read_sessions(folder, shape) if shape.interaction == "lstm" else {}
        self._joint = {exit: session_of(folder, stage_name(exit), shape.precision) for exit in shape.joint_exits}

    def question(self, ids: Ints, mask: Bools) -> list[Floats]:
        feed = {"ids": ids.astype(np.int32), "lengths": mask.sum(1).astype(np.int32)}
        return self._question.run(None, feed)  # type: ignore[no-any-return]

    def document(self, inputs: Ints | Floats, mask: Bools, part: int) -> Floats:
        feed = {"states": inputs} if part else {"ids": inputs.astype(np.int32)}
        return self._document[part].run(None, feed | {"lengths": mask.sum(1).astype(np.int32)})[0]  # type: ignore[no-any-return]

    def read_side(self, states: Array, lengths: Ints, *, document: bool) -> Floats:
        feed = {"states": states, "lengths": lengths.astype(np.int32)}
        return self._read[document].run(None, feed)[0]  # type: ignore[no-any-return]

    def joint(self, exit: int, states: Array, lengths: Ints, second: Ints) -> tuple[Floats, Array | None]:
        session = self._joint[exit]
        feed = {"states": states, "lengths": lengths.astype(np.int32), "second": second.astype(np.int32)}
        inputs = {value.name for value in session.get_inputs()}
        scores, *after = session.run(None, {name: value for name, value in feed.items() if name in inputs})
        return scores, after[0] if after else None


def read_sessions(folder: Path, shape: ExportedDecoupled) -> dict[bool, onnxruntime.InferenceSession]:
    """The graphs with which an LSTM reads a document (True) and a question (False)."""
    if not (folder / graph_file(READ_DOCUMENT)).exists():
        raise CascadaError(
            f"{folder} was exported by an earlier version, whose LSTM read each document again for every question: "
            "export the trained ranker again with `cascada export`."
        )
    names = {True: READ_DOCUMENT, False: READ_QUESTION}
    return {document: session_of(folder, name, shape.precision) for document, name in names.items()}
