"""The layers of compare-aggregate, in the order they run. Shapes: n words of a question, m of a sentence."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad


class GatedEncoding(nn.Module):
    """sigmoid(E·W1 + b1) ⊙ tanh(E·W2 + b2), each word by itself (equation 1)."""

    def __init__(self, embedding: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(embedding, hidden)
        self.content = nn.Linear(embedding, hidden)

    def forward(self, words: Tensor) -> Tensor:
        return torch.sigmoid(self.gate(words)) * torch.tanh(self.content(words))


def co_attention(
    question: Tensor, text: Tensor, asked: Tensor, answered: Tensor, k_max: tuple[int, int] | None = None
) -> tuple[Tensor, Tensor]:
    """What each side's words align to on the other: (pairs, n, hidden) and (pairs, m, hidden) (equations 2 and 3).

    States are (pairs, n, hidden) and (pairs, m, hidden); masks (pairs, n) and (pairs, m) are True on real words.
    Padding gets no attention. With `k_max` a word attends to no more than so many words of the question, of the
    sentence.
    """
    scores = question @ text.transpose(1, 2)  # (pairs, n, m)
    of_question, of_text = k_max or (None, None)
    to_text = attention(scores, answered, of_text)  # (pairs, n, m)
    to_question = attention(scores.transpose(1, 2), asked, of_question)  # (pairs, m, n)
    return to_text @ text, to_question @ question


def attention(scores: Tensor, mask: Tensor, most: int | None) -> Tensor:
    """Softmax of (pairs, words, others) over the others that `mask` (pairs, others) lets in, or the `most` of them.

    Keeping the k largest weights and making them sum to one again is the softmax of the k largest scores. Others that
    tie with the k-th stay in, too: a word that stands twice counts alike in both places.
    """
    scores = scores.masked_fill(~mask[:, None, :], -torch.inf)
    if most is not None:
        padded = pad(scores, (0, most), value=-torch.inf)  # so that there are always that many
        scores = scores.masked_fill(scores < padded.topk(most).values[..., -1:], -torch.inf)
    return scores.softmax(-1)
