"""The folder of a trained transformer ranker: save, load, start training from it, cut it to fewer exits.

`cascada.core.folder` describes the files; `config.json` is the encoder's config in the hub's layout.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import torch

from cascada.core.errors import CascadaError
from cascada.core.folder import (
    SHAPE_FILE,
    TRANSFORMER,
    parse_shape,
    read_card,
    require_no_ranker,
    require_trained,
    saving,
)
from cascada.encoders.encoder import load_encoder, new_encoder
from cascada.encoders.files import copy_tokenizer, read_weights, write_weights
from cascada.encoders.late_interaction import piece_weights
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape, Head, default_exits
from cascada.text.pairs import PairTokenizer

TEXTS_AT_ONCE = 4096
"""Texts that are tokenised together."""


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


def cut(folder: Path, exits: Sequence[int], output: Path, *, texts: Iterable[str] | None = None) -> None:
    """Write a trained ranker with other exits to `output`: with fewer, with a single one, or with exit 0 in front.

    Exit 0 can be added to every ranker; `texts` are what the IDF of its word pieces is computed from.
    """
    before = load(folder)
    unknown = [exit for exit in exits if exit and exit not in before.shape.exits]
    if unknown:
        known = ", ".join(map(str, before.shape.exits))
        raise CascadaError(f"{folder} has no exit at layer {unknown[0]}; it has {known}.")
    if 0 in exits and not before.shape.exit_zero and texts is None:
        raise CascadaError("Exit 0 weighs word pieces by IDF: name a file of texts to compute it from (--texts FILE).")
    require_no_ranker(output)
    shape = dataclasses.replace(before.shape, exits=tuple(sorted(exits)))
    model = CascadeRanker(new_encoder(folder, layers=shape.exits[-1]), shape)
    copy_common_weights(before, model)
    if shape.exit_zero and texts is not None:
        tokenizer = PairTokenizer.load(folder, max_length=shape.max_length, pad_id=model.pad_id)
        set_piece_weights(model, tokenizer, texts)
    kept = ", ".join(map(str, shape.exits))
    card = f"# A Cascada ranker\n\nExits {kept} of {folder.name}, without further training; its card follows.\n\n"
    save(model, output, tokenizer=folder, card=card + read_card(folder))


def set_piece_weights(model: CascadeRanker, tokenizer: PairTokenizer, texts: Iterable[str]) -> None:
    """Set the weights of exit 0 to the IDF of the word pieces among these texts; unknown pieces have weight 0."""
    rest = iter(texts)
    batches = iter(lambda: list(islice(rest, TEXTS_AT_ONCE)), [])
    tokens = (ids for batch in batches for ids in tokenizer.tokens(batch))
    weights = piece_weights(tokens, len(model.piece_weights), tokenizer.not_words)
    model.piece_weights.copy_(torch.from_numpy(weights))
