"""A reader's model in torch, as the function that `Reader` needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from cascada.models.reader import ReaderModel, load
from cascada.reading.reader import Reader
from cascada.reading.span import Floats
from cascada.text.pairs import Ints
from cascada.text.windows import Windows, WindowTokenizer


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
