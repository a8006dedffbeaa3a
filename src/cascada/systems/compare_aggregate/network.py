"""The compare-aggregate network, in the order it runs: gated encoding, co-attention (with k-max), comparison.

Shapes: n words of a question, m of a sentence. `aggregation.py` has the convolutions, `objectives/level_heads.py` the
prediction of each level.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, pad

from cascada.objectives.level_heads import LevelHeads, score_of
from cascada.objectives.levels import levels_needed
from cascada.ranking.arrays import shortest_first
from cascada.systems.compare_aggregate.aggregation import Aggregation, Filter, aggregate, by_level, filters_of
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.text.vocabulary import PAD


class GatedEncoding(nn.Module):
    """sigmoid(E·W1 + b1) ⊙ tanh(E·W2 + b2), for each word separately (equation 1)."""

    def __init__(self, embedding: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(embedding, hidden)
        self.content = nn.Linear(embedding, hidden)

    def forward(self, words: Tensor) -> Tensor:
        return torch.sigmoid(self.gate(words)) * torch.tanh(self.content(words))


def co_attention(
    question: Tensor, text: Tensor, asked: Tensor, answered: Tensor, k_max: tuple[int, int] | None = None
) -> tuple[Tensor, Tensor]:
    """Align the words of each side to the other side (equations 2 and 3).

    States and results are (pairs, n, hidden) and (pairs, m, hidden); the masks `asked` (pairs, n) and `answered`
    (pairs, m) are True on real words. Padding gets no attention. `k_max` limits the words of the question, and of the
    sentence, that a word attends to.
    """
    scores = question @ text.transpose(1, 2)  # (pairs, n, m)
    of_question, of_text = k_max or (None, None)
    to_text = attention(scores, answered, of_text)  # (pairs, n, m)
    to_question = attention(scores.transpose(1, 2), asked, of_question)  # (pairs, m, n)
    return to_text @ text, to_question @ question


def attention(scores: Tensor, mask: Tensor, k_max: int | None) -> Tensor:
    """Softmax of scores (pairs, words, others) over the others where `mask` (pairs, others) is True.

    With `k_max`, only over that many of the highest scores: renormalising the k largest weights is the softmax of the k
    largest scores. Ties with the k-th score are kept, so that a repeated word has the same weight in both places.
    """
    scores = scores.masked_fill(~mask[:, None, :], -torch.inf)
    if k_max is not None:
        padded = pad(scores, (0, k_max), value=-torch.inf)  # topk needs at least that many
        scores = scores.masked_fill(scores < padded.topk(k_max).values[..., -1:], -torch.inf)
    return scores.softmax(-1)


WORD_BUDGET = 2048
"""Padded words computed at once. Sentences of similar length are computed together, so that there is little padding."""


class CompareAggregateRanker(nn.Module):
    """Scores pairs of question and sentence, given as word ids, at each of its levels."""

    def __init__(self, shape: CompareAggregateShape, words: int) -> None:
        """`words` is the number of ids in the vocabulary. Word vectors are initialised at random; see `set_vectors`."""
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(words, shape.embedding, padding_idx=PAD)
        self.encode = GatedEncoding(shape.embedding, shape.hidden)
        self.dropout = nn.Dropout(shape.dropout)
        self.aggregate = nn.ModuleDict(
            {level: Aggregation(shape.hidden, shape.channels, shape.widths) for level in shape.levels}
        )
        self.heads = LevelHeads(shape.levels, shape.feature, shape.hidden, shape.dropout)

    def set_vectors(self, vectors: Tensor, *, tuned: bool) -> None:
        """Use pre-trained vectors (words, embedding), frozen unless `tuned`."""
        with torch.no_grad():
            self.embedding.weight.copy_(vectors)
        self.embedding.weight.requires_grad_(tuned)

    def forward(self, question: Tensor, text: Tensor) -> dict[str, Tensor]:
        """Each level's output, (pairs, 2) or (pairs, 1), of ids (pairs, n) and (pairs, m)."""
        return self.heads(self.features(question, text, tuple(self.shape.levels)))  # type: ignore[no-any-return]

    def score(self, question: Tensor, text: Tensor) -> Tensor:
        """(pairs,) scores of the main level; levels that it does not read are not computed."""
        main = str(self.shape.main)
        return score_of(self.heads.only(main, self.features(question, text, levels_needed(self.shape.levels, main))))

    def features(self, question: Tensor, text: Tensor, levels: tuple[str, ...]) -> dict[str, Tensor]:
        """r = [r_q ; r_a] of some levels, (pairs, feature) each. Pairs of similar length are computed together."""
        asked, answered = question != PAD, text != PAD
        words, places = torch.unique(torch.cat((question, text), 1), return_inverse=True)
        encoded = self.encode(self.embedding(words))  # each distinct word once
        first, second = places.split((question.shape[1], text.shape[1]), 1)
        filters = filters_of([self.aggregate[level] for level in levels])  # type: ignore[misc]
        parts = [torch.from_numpy(rows) for rows in shortest_first(answered.sum(1).cpu().numpy(), WORD_BUDGET)]
        maxima = []
        for rows in (part.to(text.device) for part in parts):
            sides = _cropped(first[rows], asked[rows]), _cropped(second[rows], answered[rows])
            maxima.append(torch.stack(self._aggregated(encoded, *sides, filters)))  # (2, widths, rows, all channels)
        back = torch.cat(parts).argsort().to(text.device)
        return {level: self.dropout(own) for level, own in by_level(torch.cat(maxima, 2)[:, :, back], levels)}

    def _aggregated(self, encoded: Tensor, asked: Words, answered: Words, filters: Sequence[Filter]) -> list[Tensor]:
        """Compare and aggregate: for each side (widths, pairs, channels of all levels)."""
        first, second = (self.dropout(embedding(places, encoded)) for places, _ in (asked, answered))
        aligned_first, aligned_second = co_attention(first, second, asked[1], answered[1], self.shape.k_max)
        compared = (aligned_first * first, asked[1]), (aligned_second * second, answered[1])  # equation 4
        return [torch.stack(aggregate(states, mask, filters)) for states, mask in compared]


Words = tuple[Tensor, Tensor]
"""Rows of the table of encoded words, (pairs, words), and the mask of real words."""


def _cropped(places: Tensor, mask: Tensor) -> Words:
    """Remove the columns that are padding in every row."""
    longest = int(mask.sum(1).max())
    return places[:, :longest], mask[:, :longest]
