"""The ONNX Runtime engine: the stage graphs that `cascada export` writes. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from cascada.graphs.session import TOKEN_BUDGET, Workers, session_of, stage_name
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.cost import Arithmetic
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.systems.cascade.shape import Exported, read_exported
from cascada.text.pairs import EncodedPairs, PairTokenizer


@dataclass(frozen=True)
class OnnxState:
    """Token ids of the pairs and their hidden states after the last stage, end to end as the ids are."""

    encoded: EncodedPairs
    hidden: NDArray[Any]  # (tokens, hidden)

    def take(self, rows: Ints) -> OnnxState:
        return OnnxState(self.encoded.take(rows), self.hidden[self.encoded.places(rows)])


class OnnxStage:
    """Layers `first`+1 to `exit` of an exported ranker, and the head on them."""

    def __init__(self, model: OnnxModel, *, first: int, exit: int) -> None:
        self.model = model
        self.first = first
        self.exit = exit
        self.layers = exit - first
        self.session = model.session(exit)
        self._last = exit == model.about.exits[-1]
        self._inputs = {one.name for one in self.session.get_inputs()}

    def score(self, pairs: Pairs, state: OnnxState | None, deadline: Deadline) -> Scored:
        encoded = state.encoded if state else self.model.tokenizer.encode(pairs.questions, pairs.texts, pairs.owner)
        scores = np.empty(len(pairs), np.float32)
        hidden = None if self._last else np.empty((len(encoded.ids), self.model.about.hidden), self.model.about.kept)

        def work(rows: Ints) -> None:
            deadline.check()
            feed, mask = self._feed(encoded, state, rows)
            found, *states = self.session.run(None, feed)
            scores[rows] = found
            if hidden is not None:
                hidden[encoded.places(rows)] = states[0][mask]

        self.model.workers.run(work, shortest_first(encoded.lengths, self._budget(encoded)))
        handed_on = None if hidden is None else OnnxState(encoded, hidden)
        return Scored(scores, handed_on, encoded.truncated, encoded.lengths)

    def flops(self, tokens: Ints) -> Ints:
        return self.model.arithmetic.stage(self.layers, tokens)

    def probability(self, scores: Floats) -> Floats:
        """The softmax of two logits is the sigmoid of their difference, which is the raw score."""
        return sigmoid(scores)

    def _budget(self, encoded: EncodedPairs) -> int:
        """Few pairs are still shared among the cores."""
        return min(TOKEN_BUDGET, -(-len(encoded.ids) // self.model.workers.threads))

    def _feed(
        self, encoded: EncodedPairs, state: OnnxState | None, rows: Ints
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        ids, mask, types = encoded.padded(rows, self.model.tokenizer.pad_id)
        feed: dict[str, NDArray[Any]] = {"lengths": encoded.lengths[rows].astype(np.int32)}
        if state is None:
            feed |= {"ids": ids.astype(np.int32), "types": types.astype(np.int32)}
        else:
            states = np.zeros((*mask.shape, state.hidden.shape[1]), state.hidden.dtype)
            states[mask] = state.hidden[encoded.places(rows)]
            feed["states"] = states
        return {name: value for name, value in feed.items() if name in self._inputs}, mask


class OnnxModel:
    """What the stages of one exported ranker share."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self.about: Exported = read_exported(folder)
        self.workers = Workers(threads)
        self.tokenizer = PairTokenizer.load(folder, max_length=self.about.max_length, pad_id=self.about.pad_id)
        about = self.about
        self.arithmetic = Arithmetic(about.hidden, about.feed_forward, about.head, about.head_width)

    def session(self, exit: int) -> onnxruntime.InferenceSession:
        return session_of(self.folder, stage_name(exit), self.about.precision)

    def stages(self) -> list[OnnxStage]:
        exits = self.about.exits
        return [OnnxStage(self, first=first, exit=exit) for first, exit in zip((0, *exits), exits, strict=False)]


def onnx_ranker(folder: Path, *, threads: int) -> Ranker:
    """An exported ranker's folder as a ranker."""
    return Ranker(OnnxModel(folder, threads).stages())
