"""How question and document are read together: by transformer layers, or by what the paper compares them with.

Every interaction is called with states (pairs, tokens, hidden) in which a question's tokens stand before a document's,
a mask that is True on real tokens, and the places (pairs,) where the documents begin. It gives the states it came to
and the pair's features (pairs, 2 · hidden), one half from each side.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import PretrainedConfig

from cascada.encoders.encoder import additive
from cascada.encoders.layers import some_rows

Read = tuple[Tensor, Tensor]


class LayerInteraction(nn.Module):
    """DC-BERT's: transformer layers over both; the features are the two sides' first tokens."""

    def __init__(self, layers: nn.ModuleList, config: PretrainedConfig) -> None:
        super().__init__()
        self.layers = layers
        self.config = config

    def forward(self, states: Tensor, mask: Tensor, second: Tensor, first: int, last: int) -> Read:
        """Layers first+1 to last. Of the very last one only the first tokens are computed, and no states come back."""
        hidden = additive(mask, states.dtype)
        whole = min(last, len(self.layers) - 1)
        for layer in self.layers[first:whole]:
            output = layer(states, hidden)
            states = output[0] if isinstance(output, tuple) else output
        two = first_tokens(states, second)
        if last > whole:
            two = some_rows(self.layers[-1], self.config, two, states, hidden)
        return states, two.flatten(1)


class LinearInteraction(nn.Module):
    """DC-BERT-Linear: dense layers over the two sides' first tokens side by side; no other token is read."""

    def __init__(self, hidden: int, layers: int) -> None:
        super().__init__()
        dense = [part for _ in range(layers) for part in (nn.Linear(2 * hidden, 2 * hidden), nn.Tanh())]
        self.dense = nn.Sequential(*dense)

    def forward(self, states: Tensor, mask: Tensor, second: Tensor, first: int, last: int) -> Read:
        return states, self.dense(first_tokens(states, second).flatten(1))


class LSTMInteraction(nn.Module):
    """DC-BERT-LSTM, after Min et al. (2018): a BiLSTM over each side; the question's tokens are summed by attention,
    each of the document's is compared with that by a bilinear form (of low rank), and the largest value counts."""

    def __init__(self, hidden: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(hidden, hidden // 2, num_layers=layers, bidirectional=True, batch_first=True)
        self.attend = nn.Linear(hidden, 1, bias=False)
        self.left = nn.Linear(hidden, hidden)
        self.right = nn.Linear(hidden, hidden)

    def forward(self, states: Tensor, mask: Tensor, second: Tensor, first: int, last: int) -> Read:
        places = torch.arange(states.shape[1], device=states.device)
        begins = second[:, None]
        asked, asked_mask = self._read(states, mask & (places < begins), torch.zeros_like(begins))
        told, told_mask = self._read(states, mask & (places >= begins), begins)
        weights = self.attend(asked).masked_fill(~asked_mask[..., None], float("-inf")).softmax(1)
        question = (weights * asked).sum(1)  # (pairs, hidden)
        compared = self.left(told) * self.right(question)[:, None]  # (pairs, tokens, hidden)
        best = compared.masked_fill(~told_mask[..., None], float("-inf")).amax(1)
        return states, torch.cat((question, best), -1)

    def _read(self, states: Tensor, mask: Tensor, begins: Tensor) -> Read:
        """One side's states, moved to the left, through the LSTM; and its mask."""
        lengths = mask.sum(1)
        places = torch.arange(int(lengths.max()), device=states.device)
        index = (begins + places).clamp(max=states.shape[1] - 1)  # (pairs, longest)
        own = states.gather(1, index[..., None].expand(-1, -1, states.shape[2]))
        packed = pack_padded_sequence(own, lengths.cpu(), batch_first=True, enforce_sorted=False)
        read, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return read, places < lengths[:, None]


def first_tokens(states: Tensor, second: Tensor) -> Tensor:
    """The question's and the document's, (pairs, 2, hidden)."""
    rows = torch.arange(len(states), device=states.device)
    return torch.stack((states[:, 0], states[rows, second]), 1)


INTERACTIONS: dict[str, Callable[[int, int], nn.Module] | None] = {
    "layers": None,  # made of the encoder's own
    "linear": LinearInteraction,
    "lstm": LSTMInteraction,
}
