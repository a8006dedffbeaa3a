"""The torch engine of transformers: the network as it was trained, one stage per exit. For research and GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cascada.encoders.encoder import TOKEN_BUDGET
from cascada.encoders.late_interaction import ExitZero, encoded_pairs
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.cost import TransformerFlops
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored, Stage
from cascada.systems.cascade.folder import load
from cascada.systems.cascade.network import CascadeRanker
from cascada.text.pairs import EncodedPairs, PairTokenizer, PairTokens


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

    def __init__(self, model: CascadeRanker, tokenizer: PairTokenizer, *, first: int, exit: int, last: bool) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.first = first
        self.exit = exit
        self.layers = exit - first
        self._last = last
        encoder, shape = model.encoder, model.shape
        self._flop_counts = TransformerFlops(
            encoder.hidden_size, encoder.feed_forward_size, shape.head, shape.head_width
        )

    def score(self, pairs: Pairs, state: TorchState | PairTokens | None, deadline: Deadline) -> Scored:
        before = state if isinstance(state, TorchState) else None
        encoded = state.encoded if isinstance(state, TorchState) else encoded_pairs(self.tokenizer, pairs, state)
        scores = np.zeros(len(pairs), np.float32)
        hidden = None if self._last else torch.empty(len(encoded.ids), self.model.encoder.hidden_size)
        with torch.inference_mode():
            for rows in shortest_first(encoded.lengths, TOKEN_BUDGET):
                deadline.check()
                states, mask = self._run(encoded, before, rows)
                logits = self.model.score(states, mask, self.exit)  # (rows, 2)
                scores[rows] = (logits[:, 1] - logits[:, 0]).cpu().numpy()
                if hidden is not None:
                    hidden[torch.from_numpy(encoded.token_positions(rows))] = states[mask].cpu()
        passed_on = None if hidden is None else TorchState(encoded, hidden)
        return Scored(scores, passed_on, encoded.truncated, encoded.lengths)

    def flops(self, tokens: Ints) -> Ints:
        return self._flop_counts.stage(self.layers, tokens)

    def probability(self, scores: Floats) -> Floats:
        """The softmax of two logits is the sigmoid of their difference, which is the raw score."""
        return sigmoid(scores)

    def _run(self, encoded: EncodedPairs, before: TorchState | None, rows: Ints) -> tuple[Tensor, Tensor]:
        device = next(self.model.parameters()).device
        ids, mask, types = (torch.from_numpy(array).to(device) for array in encoded.padded(rows, self.tokenizer.pad_id))
        if before is None:
            states = self.model.encoder.embed(ids, types)
        else:
            states = torch.zeros(*mask.shape, self.model.encoder.hidden_size, device=device)
            states[mask] = before.hidden[torch.from_numpy(encoded.token_positions(rows))].to(device)
        return self.model.encoder.run(states, mask, self.first, self.exit), mask


def ranker_of(model: CascadeRanker, tokenizer: PairTokenizer) -> Ranker:
    """Make a ranker from a network in memory."""
    exits = model.shape.layer_exits
    stages: list[Stage] = [
        TorchStage(model, tokenizer, first=first, exit=exit, last=exit == exits[-1])
        for first, exit in zip((0, *exits), exits, strict=False)
    ]
    if model.exit_zero:
        stages.insert(0, ExitZero(model.exit_zero.vectors(model.encoder), tokenizer))
    return Ranker(stages)


def torch_ranker(folder: Path) -> Ranker:
    """Load the folder of a trained ranker, onto the GPU if there is one."""
    model = load(folder).to("cuda" if torch.cuda.is_available() else "cpu")
    return ranker_of(model, PairTokenizer.load(folder, max_length=model.shape.max_length, pad_id=model.pad_id))
