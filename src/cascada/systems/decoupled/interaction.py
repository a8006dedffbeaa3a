"""The interaction above the join: transformer layers, or the linear and LSTM alternatives of the DC-BERT paper.

Every interaction takes states (pairs, tokens, hidden), the question's tokens before the document's; a mask that is True
on real tokens; `second` (pairs,), the position of each document's first token; and the numbers of the layer before the
first and of the last layer to run. It returns the states after these layers and the features of each pair, (pairs,
2 · hidden), one half from each side.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import PretrainedConfig

from cascada.encoders.families import additive_mask
from cascada.encoders.layers import some_rows

StatesAndFeatures = tuple[Tensor, Tensor]


class LayerInteraction(nn.Module):
    """DC-BERT's interaction: transformer layers over both sides; the features are the first tokens of the sides."""

    def __init__(self, layers: nn.ModuleList, config: PretrainedConfig) -> None:
        super().__init__()
        self.layers = layers
        self.config = config

    def forward(self, states: Tensor, mask: Tensor, second: Tensor, first: int, last: int) -> StatesAndFeatures:
        """Run layers first+1 to last. The very last layer is computed for the two first tokens only.

        The states that are returned then are those before it.
        """
        hidden = additive_mask(mask, states.dtype)
        whole = min(last, len(self.layers) - 1)
        for layer in self.layers[first:whole]:
            output = layer(states, hidden)
            states = output[0] if isinstance(output, tuple) else output
        two = first_tokens(states, second)
        if last > whole:
            two = some_rows(self.layers[-1], self.config, two, states, hidden)
        return states, two.flatten(1)


class LinearInteraction(nn.Module):
    """DC-BERT-Linear: dense layers over the concatenated first tokens of the sides; no other token is read."""

    def __init__(self, hidden: int, layers: int) -> None:
        super().__init__()
        dense = [part for _ in range(layers) for part in (nn.Linear(2 * hidden, 2 * hidden), nn.Tanh())]
        self.dense = nn.Sequential(*dense)

    def forward(self, states: Tensor, mask: Tensor, second: Tensor, first: int, last: int) -> StatesAndFeatures:
        return states, self.dense(first_tokens(states, second).flatten(1))


class LSTMInteraction(nn.Module):
    """DC-BERT-LSTM, after Min et al. (2018): a BiLSTM over each side. Attention sums the question's tokens to a vector;
    a bilinear form of low rank compares it with each of the document's tokens, and the largest values are kept."""

    def __init__(self, hidden: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(hidden, hidden // 2, num_layers=layers, bidirectional=True, batch_first=True)
        self.attend = nn.Linear(hidden, 1, bias=False)
        self.left = nn.Linear(hidden, hidden)
        self.right = nn.Linear(hidden, hidden)

    def forward(self, states: Tensor, mask: Tensor, second: Tensor, first: int, last: int) -> StatesAndFeatures:
        places = torch.arange(states.shape[1], device=states.device)
        begins = second[:, None]
        asked, question_mask = self._run(states, mask & (places < begins), torch.zeros_like(begins))
        document, document_mask = self._run(states, mask & (places >= begins), begins)
        weights = self.attend(asked).masked_fill(~question_mask[..., None], float("-inf")).softmax(1)
        question = (weights * asked).sum(1)  # (pairs, hidden)
        compared = self.left(document) * self.right(question)[:, None]  # (pairs, tokens, hidden)
        best = compared.masked_fill(~document_mask[..., None], float("-inf")).amax(1)
        return states, torch.cat((question, best), -1)

    def _run(self, states: Tensor, mask: Tensor, begins: Tensor) -> tuple[Tensor, Tensor]:
        """Run the LSTM on one side, shifted to start at 0; returns its states and its mask."""
        lengths = mask.sum(1)
        places = torch.arange(int(lengths.max()), device=states.device)
        index = (begins + places).clamp(max=states.shape[1] - 1)  # (pairs, longest)
        own = states.gather(1, index[..., None].expand(-1, -1, states.shape[2]))
        packed = pack_padded_sequence(own, lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return output, places < lengths[:, None]


def first_tokens(states: Tensor, second: Tensor) -> Tensor:
    """The states of the question's and the document's first token, (pairs, 2, hidden)."""
    rows = torch.arange(len(states), device=states.device)
    return torch.stack((states[:, 0], states[rows, second]), 1)


INTERACTIONS: dict[str, Callable[[int, int], nn.Module] | None] = {
    "layers": None,  # built from the encoder's own layers
    "linear": LinearInteraction,
    "lstm": LSTMInteraction,
}
