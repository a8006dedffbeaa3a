"""Readers that compute with torch."""

from __future__ import annotations

from pathlib import Path

import torch

from cascada.reading import folder as reader_folder
from cascada.reading.network import ReaderNetwork
from cascada.reading.reader import Reader
from cascada.reading.span import Floats
from cascada.text.pair_arrays import Ints
from cascada.text.windows import Windows, WindowTokenizer


def load(folder: Path) -> Reader:
    """The trained reader in a folder, on the GPU if there is one."""
    model = reader_folder.load(folder).to("cuda" if torch.cuda.is_available() else "cpu")
    return reader_of(model, tokenizer_of(model, folder))


def tokenizer_of(model: ReaderNetwork, folder: Path) -> WindowTokenizer:
    """The tokenizer in `folder`, with the model's window length."""
    shape = model.shape
    return WindowTokenizer.load(folder, max_length=shape.max_length, overlap=shape.overlap, pad_id=model.pad_id)


def reader_of(model: ReaderNetwork, tokenizer: WindowTokenizer) -> Reader:
    """A reader that computes with a network in memory."""

    def score(windows: Windows, rows: Ints) -> Floats:
        device = next(model.parameters()).device
        arrays = (*windows.encoded.padded(rows, tokenizer.pad_id), windows.document_mask(rows))
        with torch.inference_mode():
            logits = model(*(torch.from_numpy(array).to(device) for array in arrays))
        return logits.float().cpu().numpy()  # type: ignore[no-any-return]

    return Reader(score, tokenizer)
