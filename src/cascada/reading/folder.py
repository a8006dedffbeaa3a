"""Creating, saving and loading a reader's network."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from cascada.core.folder import READER, parse_shape, saving
from cascada.encoders.encoder import new_encoder
from cascada.encoders.files import copy_tokenizer, read_weights, write_weights
from cascada.reading.network import ReaderNetwork
from cascada.reading.shape import ReaderShape, check_reader
from cascada.systems.cascade import folder as cascade_folder


def begin(encoder: str, *, layers: int | None, max_length: int, overlap: int, dropout: float) -> ReaderNetwork:
    """A reader to train, on a pre-trained encoder (a folder or a hub name) or on a trained ranker's encoder."""
    base = cascade_folder.begin(encoder, layers=layers, max_length=max_length).encoder
    return ReaderNetwork(base, ReaderShape((base.depth,), max_length, overlap, dropout))


def save(model: ReaderNetwork, folder: Path, *, tokenizer: Path, card: str) -> None:
    """Write the reader into `folder`; until its last file is in place, the folder is not a reader."""
    with saving(folder, {"kind": READER, **dataclasses.asdict(model.shape)}, card=card) as temporary:
        model.encoder.config.save_pretrained(temporary)
        write_weights(model, temporary)
        copy_tokenizer(tokenizer, temporary)


def load(folder: Path) -> ReaderNetwork:
    """Load the reader that `save` wrote."""
    check_reader(folder)
    model = ReaderNetwork(new_encoder(folder), parse_shape(folder, ReaderShape))
    read_weights(model, folder)
    return model.eval()
