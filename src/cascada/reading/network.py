"""The span reader: an encoder with one layer on it that says where an answer begins and where it ends."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from cascada.core.errors import CascadaError
from cascada.core.folder import READER, parsed, saving
from cascada.encoders.encoder import StagedEncoder, new_encoder
from cascada.encoders.files import copy_tokenizer, read_weights, write_weights
from cascada.reading.reader import Reader, check_reader
from cascada.reading.span import Floats
from cascada.systems.cascade import folder as checkpoint
from cascada.text.pairs import Ints
from cascada.text.windows import Windows, WindowTokenizer


@dataclass(frozen=True)
class ReaderShape:
    exits: tuple[int, ...]
    """One: its number of layers."""
    max_length: int = 256
    """Tokens of a window, with the question's."""
    overlap: int = 64
    """Tokens that a window shares with the one before."""
    dropout: float = 0.1


class ReaderModel(nn.Module):
    """Scores every token of the text as the first and as the last of an answer."""

    def __init__(self, encoder: StagedEncoder, shape: ReaderShape) -> None:
        super().__init__()
        if shape.max_length > encoder.longest:
            raise CascadaError(f"max_length is {shape.max_length}, but the encoder reads {encoder.longest} tokens.")
        self.encoder = encoder
        self.shape = shape
        self.dropout = nn.Dropout(shape.dropout)
        self.out = nn.Linear(encoder.hidden_size, 2)

    @property
    def pad_id(self) -> int:
        return self.encoder.pad_id

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor, document: Tensor) -> Tensor:
        """Logits (windows, tokens, 2) of inputs (windows, tokens); the lowest number where no answer can be.

        `document` is True on the text's tokens. The first token stands for there being no answer.
        """
        states = self.encoder.run(self.encoder.embed(ids, types), mask, 0, self.encoder.depth)
        logits: Tensor = self.out(self.dropout(states))
        possible = document.clone()
        possible[:, 0] = True
        return logits.masked_fill(~possible.unsqueeze(-1), torch.finfo(logits.dtype).min / 4)  # two may be added up


def begin(encoder: str, *, layers: int | None, max_length: int, overlap: int, dropout: float) -> ReaderModel:
    """A reader to train, on a pre-trained encoder (a folder or a hub name) or on that of a trained ranker."""
    base = checkpoint.begin(encoder, layers=layers, max_length=max_length).encoder
    return ReaderModel(base, ReaderShape((base.depth,), max_length, overlap, dropout))


def save(model: ReaderModel, folder: Path, *, tokenizer: Path, card: str) -> None:
    """Write the reader into `folder`; until its last file is in place, the folder is no reader."""
    with saving(folder, {"kind": READER, **dataclasses.asdict(model.shape)}, card=card) as made:
        model.encoder.config.save_pretrained(made)
        write_weights(model, made)
        copy_tokenizer(tokenizer, made)


def load(folder: Path) -> ReaderModel:
    """The reader that `save` wrote."""
    check_reader(folder)
    shape = parsed(folder, ReaderShape)
    model = ReaderModel(new_encoder(folder), shape)
    read_weights(model, folder)
    return model.eval()


def reader_of(model: ReaderModel, tokenizer: WindowTokenizer) -> Reader:
    """A model in memory as a reader."""

    def score(windows: Windows, rows: Ints) -> Floats:
        device = next(model.parameters()).device
        arrays = (*windows.encoded.padded(rows, tokenizer.pad_id), windows.document(rows))
        with torch.inference_mode():
            logits = model(*(torch.from_numpy(array).to(device) for array in arrays))
        return logits.cpu().numpy().astype(np.float32)  # type: ignore[no-any-return]

    return Reader(score, tokenizer)


def torch_reader(folder: Path) -> Reader:
    """A trained reader's folder, on the GPU if there is one."""
    model = load(folder).to("cuda" if torch.cuda.is_available() else "cpu")
    shape = model.shape
    tokenizer = WindowTokenizer.load(folder, max_length=shape.max_length, overlap=shape.overlap, pad_id=model.pad_id)
    return reader_of(model, tokenizer)
