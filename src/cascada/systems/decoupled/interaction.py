"""The interaction above the join: transformer layers, or the linear and LSTM alternatives of the DC-BERT paper.

Layers and the linear interaction take states (pairs, tokens, hidden), the question's tokens before the document's; a
mask that is True on real tokens; `second` (pairs,), the position of each document's first token; and the numbers of the
layer before the first and of the last layer to run. They return the states after these layers and the features of each
pair, (pairs, 2 · hidden), one half from each side. The LSTM takes the two sides, and returns the features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import PretrainedConfig

from cascada.encoders.families import additive_mask
from cascada.encoders.layers import parts_of, some_rows

MATCHING = 6.0
"""The attention score, before the softmax, of two tokens with equal states in a layer that starts by matching."""
MARK = 0.4
"""How far the states of each side are shifted for a layer that starts by matching, relative to the length of a token's
centred state. The two sides are shifted in opposite directions."""

StatesAndFeatures = tuple[Tensor, Tensor]

Side = tuple[Tensor, Tensor, Tensor]
"""The encodings of one side (texts, tokens, hidden), their mask (texts, tokens), and the row of each pair (pairs,)."""


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

    @torch.no_grad()
    def start_by_matching(self, questions: Tensor, documents: Tensor) -> Tensor:
        """Make tokens of the first layer attend to similar ones, given examples (tokens, hidden) of both sides' states.

        A layer of an encoder for similarity attends almost uniformly, so at first the features say little about the
        pair. Here query and key become the same scaled random rotation of the centred states, so that attention scores
        are inner products; the biases subtract the centre, which all states have in common.

        How much of a first token's attention goes to the other side then says how well the sides match, provided that
        values show which side they are from. Returns a vector (hidden,) that marks the sides: it has to be subtracted
        from the question's type embedding and added to the document's. Query and key do not see its direction.
        """
        part: dict[str, Any] = parts_of(self.layers[0], str(self.config.model_type))
        hidden, size = questions.shape[-1], questions.shape[-1] // self.config.num_attention_heads
        centre = (questions.mean(0) + documents.mean(0)) / 2
        length = sum((side - centre).square().sum(-1).mean() for side in (questions, documents)) / 2  # squared
        # A head has `size` of the rotation's dimensions, and divides inner products by the root of `size`.
        scale = (MATCHING * hidden / (size**0.5 * length)) ** 0.5
        mark = normalize(documents.mean(0) - questions.mean(0), dim=0)
        rotation = nn.init.orthogonal_(torch.empty(hidden, hidden, device=questions.device)) * scale
        rotation -= torch.outer(rotation @ mark, mark)
        for name in ("query", "key"):
            part[name].weight.copy_(rotation)
            part[name].bias.copy_(-rotation @ centre)
        return MARK * length**0.5 * mark


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
    a bilinear form of low rank compares it with each of the document's tokens, and the largest values are kept.

    The LSTM reads each side by itself, so a question or document that several pairs share is read once.
    """

    def __init__(self, hidden: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(hidden, hidden // 2, num_layers=layers, bidirectional=True, batch_first=True)
        self.attend = nn.Linear(hidden, 1, bias=False)
        self.left = nn.Linear(hidden, hidden)
        self.right = nn.Linear(hidden, hidden)

    def forward(self, question: Side, document: Side) -> Tensor:
        """The features of each pair, (pairs, 2 · hidden)."""
        (questions, question_mask, question_of), (documents, document_mask, document_of) = question, document
        summed, compared = self.question(questions, question_mask)[question_of].unbind(1)  # (pairs, hidden)
        products = self.document(documents, document_mask)[document_of] * compared[:, None]  # (pairs, tokens, hidden)
        best = products.masked_fill(~document_mask[document_of][..., None], float("-inf")).amax(1)
        return torch.cat((summed, best), -1)

    def question(self, states: Tensor, mask: Tensor) -> Tensor:
        """The sum of each question's tokens, by attention, and what documents are compared with.

        The result is (questions, 2, hidden).
        """
        asked = self._read(states, mask)
        weights = self.attend(asked).masked_fill(~mask[..., None], float("-inf")).softmax(1)
        summed = (weights * asked).sum(1)
        return torch.stack((summed, self.right(summed)), 1)

    def document(self, states: Tensor, mask: Tensor) -> Tensor:
        """What questions are compared with, for each token: (documents, tokens, hidden)."""
        compared: Tensor = self.left(self._read(states, mask))
        return compared

    def _read(self, states: Tensor, mask: Tensor) -> Tensor:
        """Run the LSTM on texts (texts, tokens, hidden)."""
        packed = pack_padded_sequence(states, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        output, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=states.shape[1])
        return output


def first_tokens(states: Tensor, second: Tensor) -> Tensor:
    """The states of the question's and the document's first token, (pairs, 2, hidden)."""
    rows = torch.arange(len(states), device=states.device)
    return torch.stack((states[:, 0], states[rows, second]), 1)


INTERACTIONS: dict[str, Callable[[int, int], nn.Module] | None] = {
    "layers": None,  # built from the encoder's own layers
    "linear": LinearInteraction,
    "lstm": LSTMInteraction,
}
