"""The span reader's network: an encoder and one layer that scores where an answer starts and ends."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder
from cascada.reading.shape import ReaderShape


class ReaderNetwork(nn.Module):
    """Scores every token of the text as the first and as the last token of an answer."""

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
        """Start and end logits (windows, tokens, 2) of inputs (windows, tokens).

        `document` is True on the text's tokens. The first token represents "no answer"; all other tokens outside the
        text get the lowest logit.
        """
        states = self.encoder.run(self.encoder.embed(ids, types), mask, 0, self.encoder.depth)
        logits: Tensor = self.out(self.dropout(self.encoder.output(states)))
        possible = document.clone()
        possible[:, 0] = True
        lowest = torch.finfo(logits.dtype).min / 4  # a start and an end logit are added, which must not overflow
        return logits.masked_fill(~possible.unsqueeze(-1), lowest)
