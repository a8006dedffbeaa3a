"""A cross-encoder with early exits: transformers' own model, unchanged, with heads on some of its layers.

`model` is the model as its owner saved it, and its layers are run a few at a time. To train exits:

    network = load(folder)                                      # of a model in the hub's layout, or of `save`
    pooled, scores = network.pooled_states(ids, mask, types)    # after every layer, and the model's own scores
    network = with_added_exits(network, (0, 2, 4, 6), ExitHead("both", width=64))
    network.heads["2"](pooled[:, 1])                            # train these; pooled[:, n - 1] is after layer n
    save(network, out, tokenizer=folder, card=…)                # the model's weights beside those of the exits
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder
from cascada.encoders.exit_zero import ExitZeroWeights
from cascada.systems.cross_encoder.heads import OwnHead, new_head, own_head, pool
from cascada.systems.cross_encoder.shape import CrossEncoderShape


class AddedExits(nn.Module):
    """What was added to a model: the heads of the exits below its last layer, and exit 0. Saved in one small file."""

    def __init__(self, encoder: StagedEncoder, shape: CrossEncoderShape) -> None:
        super().__init__()
        self.heads = nn.ModuleDict({str(exit): new_head(shape.head, encoder.hidden_size) for exit in shape.added_exits})
        self.exit_zero = ExitZeroWeights(encoder) if shape.exit_zero else None


class CrossEncoderRanker(nn.Module):
    """Scores pairs of question and candidate at any exit; at the last one as the model itself does."""

    def __init__(self, model: PreTrainedModel, shape: CrossEncoderShape) -> None:
        super().__init__()
        encoder = StagedEncoder(model.base_model, keep_pooler=True)
        if shape.exits[-1] != encoder.depth:
            raise CascadaError(
                f"The last exit is at layer {shape.exits[-1]}; it must be the model itself, which has {encoder.depth}."
            )
        if shape.max_length > encoder.longest:
            raise CascadaError(f"max_length is {shape.max_length}, but the model reads {encoder.longest} tokens.")
        self.model = model
        self.shape = shape
        self.added = AddedExits(encoder, shape)
        self._views = (encoder, own_head(model))  # in a tuple, so that no weight is registered twice

    @property
    def encoder(self) -> StagedEncoder:
        """The model's encoder, whose layers can be run a few at a time."""
        return self._views[0]

    @property
    def own_head(self) -> OwnHead:
        """The head that the model came with."""
        return self._views[1]

    @property
    def heads(self) -> nn.ModuleDict:
        """The heads of the exits below the last layer, by the exit's number: pooled states to scores (pairs, 1)."""
        return self.added.heads

    @property
    def exit_zero(self) -> ExitZeroWeights | None:
        return self.added.exit_zero

    @property
    def pad_id(self) -> int:
        return self.encoder.pad_id

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor, exits: Sequence[int] = ()) -> dict[int, Tensor]:
        """Raw scores (pairs,) at each of `exits` (layers; by default the last exit) for inputs (pairs, tokens)."""
        wanted = sorted(set(exits or self.shape.exits[-1:]))
        scores, done = {}, 0
        states = self.encoder.embed(ids, types)
        for exit in wanted:
            states, done = self.encoder.run(states, mask, done, exit), exit
            scores[exit] = self.raw_score(states, mask, exit)
        return scores

    def raw_score(self, states: Tensor, mask: Tensor, exit: int) -> Tensor:
        """The raw scores (pairs,) of states (pairs, tokens, hidden) after the layer `exit`."""
        read = self.encoder.output(states)
        if exit == self.shape.exits[-1]:
            return self.own_head(read, mask)
        score: Tensor = self.heads[str(exit)](pool(self.shape.head.pooling, read, mask))
        return score[:, 0]

    def pooled_states(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
        """What the head of an exit would read after every layer, (pairs, layers, pooled), and the model's raw scores
        (pairs,): all that exits can learn from, in one pass."""
        states, pooled = self.encoder.embed(ids, types), []
        for layer in range(self.encoder.depth):
            states = self.encoder.run(states, mask, layer, layer + 1)
            pooled.append(pool(self.shape.head.pooling, self.encoder.output(states), mask))
        return torch.stack(pooled, 1), self.raw_score(states, mask, self.encoder.depth)
