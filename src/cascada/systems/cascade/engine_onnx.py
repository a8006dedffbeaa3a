"""The ONNX Runtime engine of transformers: it runs the stage graphs that `cascada export` writes. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from cascada.encoders.late_interaction import ExitZero, encoded_pairs
from cascada.graphs.piece_vectors import load_vectors
from cascada.graphs.session import TOKEN_BUDGET, Workers, session_of, stage_name
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.cost import TransformerFlops
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored, Stage
from cascada.systems.cascade.shape import ExportedCascade, read_exported
from cascada.text.pairs import EncodedPairs, PairTokenizer, PairTokens


@dataclass(frozen=True)
class OnnxState:
    """Token ids of the pairs and their hidden states after a stage, concatenated as the ids are."""

    encoded: EncodedPairs
    hidden: NDArray[Any]  # (tokens, hidden)

    def take(self, rows: Ints) -> OnnxState:
        return OnnxState(self.encoded.take(rows), self.hidden[self.encoded.token_positions(rows)])


class OnnxStage:
    """Layers `first`+1 to `exit` of an exported ranker, and the head on them."""

    def __init__(self, model: OnnxModel, *, first: int, exit: int) -> None:
        self.model = model
        self.first = first
        self.exit = exit
        self.layers = exit - first
        self.session = model.session(exit)
        self._last = exit == model.shape.exits[-1]
        self._inputs = {value.name for value in self.session.get_inputs()}

    def score(self, pairs: Pairs, state: OnnxState | PairTokens | None, deadline: Deadline) -> Scored:
        before = state if isinstance(state, OnnxState) else None
        encoded = state.encoded if isinstance(state, OnnxState) else encoded_pairs(self.model.tokenizer, pairs, state)
        scores = np.empty(len(pairs), np.float32)
        shape = self.model.shape
        hidden = None if self._last else np.empty((len(encoded.ids), shape.hidden), shape.kept)

        def work(rows: Ints) -> None:
            deadline.check()
            feed, mask = self._feed(encoded, before, rows)
            scores[rows], *states = self.session.run(None, feed)
            if hidden is not None:
                hidden[encoded.token_positions(rows)] = states[0][mask]

        self.model.workers.run(work, shortest_first(encoded.lengths, self._budget(encoded)))
        passed_on = None if hidden is None else OnnxState(encoded, hidden)
        return Scored(scores, passed_on, encoded.truncated, encoded.lengths)

    def flops(self, tokens: Ints) -> Ints:
        return self.model.flop_counts.stage(self.layers, tokens)

    def probability(self, scores: Floats) -> Floats:
        """The softmax of two logits is the sigmoid of their difference, which is the raw score."""
        return sigmoid(scores)

    def _budget(self, encoded: EncodedPairs) -> int:
        """Tokens per call: small enough that even a few pairs are spread over all cores."""
        return min(TOKEN_BUDGET, -(-len(encoded.ids) // self.model.workers.threads))

    def _feed(
        self, encoded: EncodedPairs, before: OnnxState | None, rows: Ints
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        ids, mask, types = encoded.padded(rows, self.model.tokenizer.pad_id)
        feed: dict[str, NDArray[Any]] = {"lengths": encoded.lengths[rows].astype(np.int32)}
        if before is None:
            feed |= {"ids": ids.astype(np.int32), "types": types.astype(np.int32)}
        else:
            states = np.zeros((*mask.shape, before.hidden.shape[1]), before.hidden.dtype)
            states[mask] = before.hidden[encoded.token_positions(rows)]
            feed["states"] = states
        return {name: value for name, value in feed.items() if name in self._inputs}, mask


class OnnxModel:
    """The parts that all stages of one exported ranker share."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self.shape: ExportedCascade = read_exported(folder)
        self.workers = Workers(threads)
        shape = self.shape
        self.tokenizer = PairTokenizer.load(folder, max_length=shape.max_length, pad_id=shape.pad_id)
        self.flop_counts = TransformerFlops(shape.hidden, shape.feed_forward, shape.head, shape.head_width)

    def session(self, exit: int) -> onnxruntime.InferenceSession:
        return session_of(self.folder, stage_name(exit), self.shape.precision)

    def stages(self) -> list[Stage]:
        exits = self.shape.layer_exits
        stages: list[Stage] = [
            OnnxStage(self, first=first, exit=exit) for first, exit in zip((0, *exits), exits, strict=False)
        ]
        if self.shape.exit_zero:
            stages.insert(0, ExitZero(load_vectors(self.folder), self.tokenizer))
        return stages


def onnx_ranker(folder: Path, *, threads: int) -> Ranker:
    """Load the folder of an exported ranker."""
    return Ranker(OnnxModel(folder, threads).stages())
