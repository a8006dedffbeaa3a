"""The towers of a decoupled ranker: which encoders can be towers, and running one on texts."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder
from cascada.systems.decoupled.shape import DecoupledShape

CHUNK = 16
"""Texts that a tower runs at a time in training, where a batch of whole lists has texts of very different lengths."""


def check(encoder: StagedEncoder, shape: DecoupledShape) -> None:
    """Raise an error if no ranker of this shape can be made from the encoder."""
    if shape.tower_exits and encoder.family.final_norm:
        raise CascadaError(
            f"The states between the layers of a {encoder.config.model_type} encoder have no norm, so they cannot be "
            f"compared: leave out the exits below the join, {', '.join(map(str, shape.tower_exits))}."
        )
    if encoder.family.relative and shape.interaction == "layers" and shape.joint_exits:
        raise CascadaError(
            f"The layers of a {encoder.config.model_type} encoder read relative positions, which documents that were "
            "encoded alone do not have: a decoupled ranker needs another encoder, another interaction (linear or "
            "lstm), or its last exit at the join."
        )
    if shape.join > encoder.depth:
        raise CascadaError(f"join is {shape.join}, but the encoder has {encoder.depth} layers.")
    if shape.interaction == "layers" and shape.joint_layers > encoder.depth:
        raise CascadaError(
            f"There are {shape.joint_layers} layers above the join, but the encoder has {encoder.depth}."
        )
    if not shape.joint_exits and max(shape.question_length, shape.max_length) > encoder.longest:
        raise CascadaError(
            f"question_length and max_length are {shape.question_length} and {shape.max_length}, "
            f"but the encoder has {encoder.longest} positions for each."
        )
    if shape.joint_exits and shape.question_length + shape.max_length > encoder.longest:
        raise CascadaError(
            f"question_length and max_length are {shape.question_length} and {shape.max_length}, "
            f"but the encoder has {encoder.longest} positions for both: set model.max_length to "
            f"{encoder.longest - shape.question_length} or less."
        )


def tower(encoder: StagedEncoder, join: int) -> StagedEncoder:
    """A copy of the encoder's embeddings and first layers."""
    own = copy.deepcopy(encoder)
    own.family.cut(join)
    return own


def encode(side: StagedEncoder, ids: Tensor, mask: Tensor) -> Tensor:
    """Run a tower on ids (texts, tokens): the states (texts, tokens, hidden) after its last layer."""
    return encode_layers(side, ids, mask, [side.depth])[0]


def encode_layers(
    side: StagedEncoder, ids: Tensor, mask: Tensor, layers: Sequence[int], *, detach: bool = False
) -> list[Tensor]:
    """Run a tower on ids (texts, tokens): the states (texts, tokens, hidden) after each of these layers.

    A chunk of texts of similar length is run at a time, so that little is padded. States of padding are not defined.
    With `detach`, no gradient goes from one of these layers to those before it.
    """
    lengths = mask.sum(-1)
    order = lengths.argsort()
    chunks: list[list[Tensor]] = [[] for _ in layers]
    for start in range(0, len(order), CHUNK):
        rows = order[start : start + CHUNK]
        longest = int(lengths[rows].max())
        own, own_mask = ids[rows, :longest], mask[rows, :longest]
        states = side.embed(own, torch.zeros_like(own))
        for chunk, first, last in zip(chunks, (0, *layers), layers, strict=False):
            states = side.run(states.detach() if detach and first else states, own_mask, first, last)
            chunk.append(pad(side.output(states), (0, 0, 0, ids.shape[1] - longest)))
    back = order.argsort()
    return [torch.cat(chunk)[back] for chunk in chunks]
