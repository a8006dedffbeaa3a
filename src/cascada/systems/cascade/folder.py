"""A trained ranker on disk: one folder with shape, encoder config, weights, tokenizer and model card.

| file | what |
|---|---|
| `cascada.json` | format version and the ranker's shape; written last, so that a folder with it is whole |
| `config.json` | the encoder's own config, as the hub has it |
| `model.safetensors` | all weights |
| `tokenizer.json` (and its settings) | the tokenizer |
| `README.md` | the model card: what trained it, on what, how well it does |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from cascada.core.errors import CascadaError
from cascada.core.folder import SHAPE_FILE, TRANSFORMER, own_card, parsed, refuse_a_ranker, require_trained, saving
from cascada.encoders.encoder import load_encoder, new_encoder
from cascada.encoders.files import copy_tokenizer, read_weights, write_weights
from cascada.systems.cascade.network import StagedRanker
from cascada.systems.cascade.shape import Shape, default_exits


def save(model: StagedRanker, folder: Path, *, tokenizer: Path, card: str) -> None:
    """Write the ranker into `folder`; until its last file is in place, the folder is no ranker."""
    with saving(folder, dataclasses.asdict(model.shape), card=card) as made:
        model.encoder.config.save_pretrained(made)
        write_weights(model, made)
        copy_tokenizer(tokenizer, made)


def load(folder: Path) -> StagedRanker:
    """The ranker that `save` wrote, ready to score."""
    require_trained(folder, TRANSFORMER, "a transformer")
    shape = parsed(folder, Shape)
    model = StagedRanker(new_encoder(folder), shape)
    read_weights(model, folder)
    return model.eval()


def begin(
    encoder: str,
    *,
    layers: int | None = None,
    exits: Sequence[int] | Literal["default"] | None = None,
    head: str = "mean",
    dropout: float = 0.1,
    max_length: int = 256,
) -> StagedRanker:
    """A ranker to train: new heads on a pre-trained encoder, or the weights of a ranker that was trained before.

    `encoder` is a folder in the hub's layout, a hub name, or a trained ranker's folder. Of the latter, an exit that it
    has too keeps its head, if it is of the same kind. Without `exits` the ranker is monolithic.
    """
    if exits and exits != "default":
        if layers not in (None, exits[-1]):
            raise CascadaError(f"The last exit is at layer {exits[-1]}, but layers is {layers}; give one of the two.")
        layers = exits[-1]
    folder = Path(encoder)
    before = load(folder) if (folder / SHAPE_FILE).exists() else None
    base = new_encoder(folder, layers=layers) if before else load_encoder(encoder, layers=layers)
    places = default_exits(base.depth) if exits == "default" else tuple(exits or (base.depth,))
    width = before.shape.head_width if before and before.shape.head == head else None
    model = StagedRanker(base, Shape(places, head, dropout, max_length, width))
    if before:
        take_over(before, model)
    return model


def take_over(before: StagedRanker, model: StagedRanker) -> None:
    """Copy what two rankers have in common: layers, and heads of the same kind on the same exits."""
    kinds = [(ranker.shape.head, ranker.shape.head_width) for ranker in (before, model)]
    same_head = kinds[0] == kinds[1]
    known = model.state_dict().keys()
    weights = before.state_dict()
    common = [name for name in known & weights.keys() if same_head or name.startswith("encoder.")]
    model.load_state_dict({name: weights[name] for name in common}, strict=False)


def cut(folder: Path, exits: Sequence[int], output: Path) -> None:
    """Write a trained ranker with fewer exits: one of them is a monolithic ranker of that many layers."""
    before = load(folder)
    unknown = [exit for exit in exits if exit not in before.shape.exits]
    if unknown:
        there = ", ".join(map(str, before.shape.exits))
        raise CascadaError(f"{folder} has no exit at layer {unknown[0]}; it has {there}.")
    refuse_a_ranker(output)
    shape = dataclasses.replace(before.shape, exits=tuple(sorted(exits)))
    model = StagedRanker(new_encoder(folder, layers=shape.exits[-1]), shape)
    take_over(before, model)
    kept = ", ".join(map(str, shape.exits))
    card = f"# A Cascada ranker\n\nExits {kept} of {folder.name}, without further training; its card follows.\n\n"
    save(model, output, tokenizer=folder, card=card + own_card(folder))
