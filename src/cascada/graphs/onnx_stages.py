"""Stages of an exported encoder in ONNX Runtime: a graph each; hidden states are passed on between them. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cascada.encoders.late_interaction import encoded_pairs
from cascada.graphs.session import TOKEN_BUDGET, Workers, session_of, stage_name
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.cost import StageFlops
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.text.pair_arrays import EncodedPairs, PairTokens
from cascada.text.pairs import PairTokenizer
from cascada.text.sentence_windows import PieceLimit


class ExportedShape(Protocol):
    """What `cascada.json` says of exported stages."""

    @property
    def hidden(self) -> int: ...
    @property
    def kept(self) -> str: ...
    @property
    def precision(self) -> str: ...
    @property
    def layer_exits(self) -> tuple[int, ...]: ...


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
        self.activation = model.activation
        self.session = session_of(model.folder, stage_name(exit), model.shape.precision)
        self.limit = PieceLimit(model.tokenizer)
        self._last = exit == model.shape.layer_exits[-1]
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


@dataclass(frozen=True)
class OnnxModel:
    """What all stages of one exported ranker share."""

    folder: Path
    shape: ExportedShape
    tokenizer: PairTokenizer
    flop_counts: StageFlops
    workers: Workers
    activation: str = "sigmoid"
    """The output function that the model was published with; see `Ranker.activation`."""

    def stages(self) -> Sequence[OnnxStage]:
        """One stage for each exit that follows a layer."""
        exits = self.shape.layer_exits
        return [OnnxStage(self, first=first, exit=exit) for first, exit in zip((0, *exits), exits, strict=False)]
