"""The transformer ranker: an encoder with a head on each exit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder
from cascada.encoders.exit_zero import ExitZeroWeights
from cascada.systems.cascade.heads import HEADS
from cascada.systems.cascade.shape import CascadeShape

CHUNK_TOKENS = 2048
"""Padded tokens that run through the encoder together."""


class CascadeRanker(nn.Module):
    """An encoder with a head at each exit: scores pairs of question and sentence at any of them."""

    def __init__(self, encoder: StagedEncoder, shape: CascadeShape) -> None:
        super().__init__()
        if shape.exits[-1] > encoder.depth:
            raise CascadaError(f"The last exit is at layer {shape.exits[-1]}, but the encoder has {encoder.depth}.")
        if shape.max_length > encoder.longest:
            raise CascadaError(f"max_length is {shape.max_length}, but the encoder reads {encoder.longest} tokens.")
        self.encoder = encoder
        self.shape = shape
        self.heads = nn.ModuleDict(
            {
                str(layer): HEADS[shape.head](encoder.hidden_size, shape.dropout, shape.head_width)
                for layer in shape.layer_exits
            }
        )
        self.exit_zero = ExitZeroWeights(encoder) if shape.exit_zero else None

    @property
    def pad_id(self) -> int:
        return self.encoder.pad_id

    def forward(
        self,
        ids: Tensor,
        mask: Tensor,
        types: Tensor,
        exits: Sequence[int] = (),
        *,
        stop_gradient: bool = False,
        teacher: bool = False,
    ) -> dict[int, Tensor]:
        """Logits (pairs, 2) at each of `exits` (layers; by default the last exit) for inputs (pairs, tokens).

        `stop_gradient` stops the gradient of an exit's loss at the exit before. `teacher` adds the logits of the last
        exit, without gradient. Layers above the highest exit that is needed are not run. Pairs of similar length run
        together, so that a batch of whole questions is little padded.
        """
        rows_at_once = max(CHUNK_TOKENS // mask.shape[1], 1)
        if len(mask) <= rows_at_once:
            return self._logits(ids, mask, types, exits, stop_gradient=stop_gradient, teacher=teacher)
        lengths = mask.sum(-1)
        order = lengths.argsort()
        chunks = []
        for rows in torch.split(order, rows_at_once):
            own, own_mask, own_types = (part[rows, : int(lengths[rows].max())] for part in (ids, mask, types))
            chunks.append(self._logits(own, own_mask, own_types, exits, stop_gradient=stop_gradient, teacher=teacher))
        back = order.argsort()
        return {layer: torch.cat([chunk[layer] for chunk in chunks])[back] for layer in chunks[0]}

    def _logits(
        self, ids: Tensor, mask: Tensor, types: Tensor, exits: Sequence[int], *, stop_gradient: bool, teacher: bool
    ) -> dict[int, Tensor]:
        """What `forward` returns, for pairs that are padded to the longest."""
        wanted = set(exits or self.shape.exits[-1:])
        highest = self.shape.exits[-1] if teacher else max(wanted)
        gradient = torch.is_grad_enabled()
        logits, states, done = {}, None, 0
        for layer in self.shape.layer_exits:
            if layer > highest:
                break
            used = layer in wanted if stop_gradient else layer <= max(wanted)  # does a loss need this part's gradient?
            with torch.set_grad_enabled(gradient and used):
                states = self.encoder.embed(ids, types) if states is None else states
                states = self.encoder.run(states, mask, done, layer)
                if layer in wanted or (teacher and layer == highest):
                    logits[layer] = self.score(states, mask, layer)
            states, done = states.detach() if stop_gradient else states, layer
        return logits

    def score(self, states: Tensor, mask: Tensor, exit: int) -> Tensor:
        return self.heads[str(exit)](self.encoder.output(states), mask)  # type: ignore[no-any-return]

    def raw_score(self, states: Tensor, mask: Tensor, exit: int) -> Tensor:
        """The second logit minus the first, (pairs,)."""
        logits = self.score(states, mask, exit)
        return logits[:, 1] - logits[:, 0]

    def rescale(self, exit: int, scale: float, shift: float) -> None:
        """Scale and shift the raw scores of an exit: the second logit minus the first."""
        if exit == 0:
            assert self.exit_zero is not None
            self.exit_zero.rescale(scale, shift)
            return
        out: Any = self.heads[str(exit)].get_submodule("out")
        with torch.no_grad():
            out.weight *= scale
            out.bias *= scale
            out.bias[1] += shift
