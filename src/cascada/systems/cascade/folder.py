"""The folder of a trained transformer ranker: save, load, start training from it, choose other exits.

`cascada.core.folder` describes the files; `config.json` is the encoder's config in the hub's layout.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from cascada.core.errors import CascadaError
from cascada.core.folder import (
    SHAPE_FILE,
    TRANSFORMER,
    parse_shape,
    require_trained,
    saving,
)
from cascada.encoders.encoder import load_encoder, new_encoder
from cascada.encoders.files import copy_tokenizer, read_weights, write_weights
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape, Head, default_exits


def save(model: CascadeRanker, folder: Path, *, tokenizer: Path, card: str) -> None:
    """Write the ranker into `folder`; until its last file is in place, the folder is no ranker.

    `tokenizer` is the folder with the tokenizer's files.
    """
    with saving(folder, dataclasses.asdict(model.shape), card=card) as temporary:
        model.encoder.config.save_pretrained(temporary)
        write_weights(model, temporary)
        copy_tokenizer(tokenizer, temporary)


def load(folder: Path) -> CascadeRanker:
    """Load the ranker that `save` wrote, in evaluation mode."""
    require_trained(folder, TRANSFORMER, "a transformer")
    shape = parse_shape(folder, CascadeShape)
    model = CascadeRanker(new_encoder(folder), shape)
    read_weights(model, folder)
    return model.eval()


def begin(
    encoder: str,
    *,
    layers: int | None = None,
    exits: Sequence[int] | Literal["default"] | None = None,
    head: Head = CascadeShape.head,
    dropout: float = CascadeShape.dropout,
    max_length: int = CascadeShape.max_length,
) -> CascadeRanker:
    """Make a ranker to train: new heads on a pre-trained encoder, or the weights of a trained ranker.

    `encoder` is a folder in the hub's layout, a hub name, or a trained ranker's folder. Exits that a trained ranker
    already has keep their heads, if they are of the same kind. Without `exits` the new ranker is monolithic.
    """
    if exits and exits != "default":
        if layers not in (None, exits[-1]):
            raise CascadaError(f"The last exit is at layer {exits[-1]}, but layers is {layers}; give one of the two.")
        layers = exits[-1]
    folder = Path(encoder)
    before = load(folder) if (folder / SHAPE_FILE).exists() else None
    base = new_encoder(folder, layers=layers) if before else load_encoder(encoder, layers=layers)
    layers_with_exit = default_exits(base.depth) if exits == "default" else tuple(exits or (base.depth,))
    width = before.shape.head_width if before and before.shape.head == head else None
    model = CascadeRanker(base, CascadeShape(layers_with_exit, head, dropout, max_length, width))
    if before:
        copy_common_weights(before, model)
    return model


def copy_common_weights(before: CascadeRanker, model: CascadeRanker) -> None:
    """Copy the weights that two rankers have in common: layers, and heads of the same kind on the same exits."""
    kinds = [(ranker.shape.head, ranker.shape.head_width) for ranker in (before, model)]
    same_head = kinds[0] == kinds[1]
    weights = before.state_dict()
    common = [name for name in model.state_dict().keys() & weights if same_head or name.startswith("encoder.")]
    model.load_state_dict({name: weights[name] for name in common}, strict=False)


def with_exits(folder: Path, exits: tuple[int, ...]) -> CascadeRanker:
    """The ranker in `folder` with some of its exits, and with exit 0 or without; see `cascada.systems.cut`."""
    before = load(folder)
    shape = dataclasses.replace(before.shape, exits=exits)
    model = CascadeRanker(new_encoder(folder, layers=shape.exits[-1]), shape)
    copy_common_weights(before, model)
    return model.eval()
