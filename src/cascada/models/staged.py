"""The transformer ranker: an encoder with a head on each exit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from cascada.errors import CascadaError
from cascada.models.encoder import StagedEncoder
from cascada.models.heads import HEADS


@dataclass(frozen=True)
class Shape:
    """Where candidates may leave, and what scores them there. One exit at the last layer is a monolithic ranker."""

    exits: tuple[int, ...]
    head: str = "mean"
    dropout: float = 0.1
    max_length: int = 256
    head_width: int | None = None
    """Of the dense layers of a head; the encoder's own if not given."""

    def __post_init__(self) -> None:
        if not self.exits or any(layer <= before for before, layer in zip((0, *self.exits), self.exits, strict=False)):
            raise CascadaError(f"exits are {self.exits}; they must be layers in rising order, such as (4, 6, 8).")
        if self.head not in HEADS:
            raise CascadaError(f"head is {self.head!r}; there are {', '.join(HEADS)}.")
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, (int, float)) or not 0 <= self.dropout < 1:
            raise CascadaError(f"dropout is {self.dropout!r}; it must be a number from 0 to below 1.")
        if isinstance(self.max_length, bool) or not isinstance(self.max_length, int):
            raise CascadaError(f"max_length is {self.max_length!r}; it must be a whole number.")


class StagedRanker(nn.Module):
    """Scores pairs of question and sentence at any of its exits."""

    def __init__(self, encoder: StagedEncoder, shape: Shape) -> None:
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
                for layer in shape.exits
            }
        )

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
        apart: bool = False,
        teacher: bool = False,
    ) -> dict[int, Tensor]:
        """Logits (pairs, 2) at each of `exits` (layers; the last one if none is named) of inputs (pairs, tokens).

        `apart` stops an exit's gradient at the exit before it. `teacher` adds the last exit's logits, without gradient.
        Layers above the last exit asked for are not run.
        """
        wanted = set(exits or self.shape.exits[-1:])
        highest = self.shape.exits[-1] if teacher else max(wanted)
        gradient = torch.is_grad_enabled()
        logits, states, done = {}, None, 0
        for layer in self.shape.exits:
            if layer > highest:
                break
            used = layer in wanted if apart else layer <= max(wanted)  # does a loss need this part's gradient?
            with torch.set_grad_enabled(gradient and used):
                states = self.encoder.embed(ids, types) if states is None else states
                states = self.encoder.run(states, mask, done, layer)
                if layer in wanted or (teacher and layer == highest):
                    logits[layer] = self.score(states, mask, layer)
            states, done = states.detach() if apart else states, layer
        return logits

    def score(self, states: Tensor, mask: Tensor, exit: int) -> Tensor:
        return self.heads[str(exit)](states, mask)  # type: ignore[no-any-return]
