"""Stages of an encoder in torch: a few layers each, and the head on them; hidden states are passed on between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from cascada.encoders.encoder import TOKEN_BUDGET, StagedEncoder
from cascada.encoders.late_interaction import encoded_pairs
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.cost import StageFlops
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.text.pair_arrays import EncodedPairs, PairTokens
from cascada.text.pairs import PairTokenizer
from cascada.text.sentence_windows import PieceLimit


class ScoresAtExits(Protocol):
    """A network whose layers can be run a few at a time."""

    @property
    def encoder(self) -> StagedEncoder: ...

    def raw_score(self, states: Tensor, mask: Tensor, exit: int) -> Tensor:
        """The raw scores (pairs,) of states (pairs, tokens, hidden) at an exit."""
        ...


@dataclass(frozen=True)
class TorchState:
    """Token ids of the pairs and their hidden states after a stage, concatenated as the ids are."""

    encoded: EncodedPairs
    hidden: Tensor  # (tokens, hidden)

    def take(self, rows: Ints) -> TorchState:
        positions = torch.from_numpy(self.encoded.token_positions(rows))
        return TorchState(self.encoded.take(rows), self.hidden[positions])


class TorchStage:
    """Layers `first`+1 to `exit` of a network, and the head on them."""

    def __init__(
        self,
        model: ScoresAtExits,
        tokenizer: PairTokenizer,
        flop_counts: StageFlops,
        *,
        first: int,
        exit: int,
        last: bool,
        activation: str = "sigmoid",
    ) -> None:
        """`activation`: the output function that the model was published with; see `Ranker.activation`."""
        self.model = model
        self.tokenizer = tokenizer
        self.first = first
        self.exit = exit
        self.layers = exit - first
        self.activation = activation
        self.limit = PieceLimit(tokenizer)
        self._last = last
        self._flop_counts = flop_counts

    def score(self, pairs: Pairs, state: TorchState | PairTokens | None, deadline: Deadline) -> Scored:
        before = state if isinstance(state, TorchState) else None
        encoded = state.encoded if isinstance(state, TorchState) else encoded_pairs(self.tokenizer, pairs, state)
        scores = np.zeros(len(pairs), np.float32)
        hidden = None if self._last else torch.empty(len(encoded.ids), self.model.encoder.hidden_size)
        with torch.inference_mode():
            for rows in shortest_first(encoded.lengths, TOKEN_BUDGET):
                deadline.check()
                states, mask = self._run(encoded, before, rows)
                scores[rows] = self.model.raw_score(states, mask, self.exit).float().cpu().numpy()
                if hidden is not None:
                    hidden[torch.from_numpy(encoded.token_positions(rows))] = states[mask].float().cpu()
        passed_on = None if hidden is None else TorchState(encoded, hidden)
        return Scored(scores, passed_on, encoded.truncated, encoded.lengths)

    def flops(self, tokens: Ints) -> Ints:
        return self._flop_counts.stage(self.layers, tokens)

    def probability(self, scores: Floats) -> Floats:
        """The softmax of two logits is the sigmoid of their difference, which is the raw score."""
        return sigmoid(scores)

    def _run(self, encoded: EncodedPairs, before: TorchState | None, rows: Ints) -> tuple[Tensor, Tensor]:
        encoder = self.model.encoder
        device = encoder.word_embeddings.device
        ids, mask, types = (torch.from_numpy(array).to(device) for array in encoded.padded(rows, self.tokenizer.pad_id))
        if before is None:
            states = encoder.embed(ids, types)
        else:
            states = torch.zeros(*mask.shape, encoder.hidden_size, device=device)
            states[mask] = before.hidden[torch.from_numpy(encoded.token_positions(rows))].to(device)
        return encoder.run(states, mask, self.first, self.exit), mask


def torch_stages(
    model: ScoresAtExits,
    tokenizer: PairTokenizer,
    flop_counts: StageFlops,
    exits: Sequence[int],
    activation: str = "sigmoid",
) -> list[TorchStage]:
    """One stage for each of `exits`, which are layers."""
    return [
        TorchStage(model, tokenizer, flop_counts, first=first, exit=exit, last=exit == exits[-1], activation=activation)
        for first, exit in zip((0, *exits), exits, strict=False)
    ]
