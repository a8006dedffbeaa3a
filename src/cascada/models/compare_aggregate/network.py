"""The network: words are encoded and aligned once; each level compares, aggregates and predicts by itself."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cascada.models.compare_aggregate.layers import Aggregation, GatedEncoding, co_attention
from cascada.models.compare_aggregate.shape import CompareAggregateShape
from cascada.models.level_heads import LevelHeads, score_of
from cascada.models.levels import needed
from cascada.ranking.batches import shortest_first
from cascada.text.vocabulary import PAD

WORD_BUDGET = 2048
"""Padded words computed at once: sentences of like length together, so that little is padding."""


class CompareAggregate(nn.Module):
    """Scores pairs of question and sentence, given as word ids, at each of its levels."""

    def __init__(self, shape: CompareAggregateShape, words: int) -> None:
        """`words` counts the vocabulary's ids. Vectors start at random; see `set_vectors`."""
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
        """Start from pre-trained vectors (words, embedding); they stay as they are unless they are to be tuned."""
        with torch.no_grad():
            self.embedding.weight.copy_(vectors)
        self.embedding.weight.requires_grad_(tuned)

    def forward(self, question: Tensor, text: Tensor) -> dict[str, Tensor]:
        """`compare` for pairs of any length, a few of like length at a time; ids are (pairs, n) and (pairs, m)."""
        lengths = (text != PAD).sum(1).cpu().numpy()
        parts = [torch.from_numpy(rows).to(text.device) for rows in shortest_first(lengths, WORD_BUDGET)]
        outputs = [self.compare(_cropped(question[rows]), _cropped(text[rows])) for rows in parts]
        back = torch.cat(parts).argsort()
        return {level: torch.cat([output[level] for output in outputs])[back] for level in self.shape.levels}

    def compare(self, question: Tensor, text: Tensor) -> dict[str, Tensor]:
        """Each level's output, (pairs, 2) or (pairs, 1), of ids (pairs, n) and (pairs, m); tensor operations only."""
        return self.heads(self._features(question, text, tuple(self.shape.levels)))  # type: ignore[no-any-return]

    def score(self, question: Tensor, text: Tensor) -> Tensor:
        """(pairs,) scores of the level that ranks; levels that it does not read are not computed."""
        main = str(self.shape.main)
        return score_of(self.heads.only(main, self._features(question, text, needed(self.shape.levels, main))))

    def _features(self, question: Tensor, text: Tensor, levels: tuple[str, ...]) -> dict[str, Tensor]:
        """r = [r_q ; r_a] of some levels, (pairs, feature) each."""
        asked, answered = question != PAD, text != PAD
        first = self.dropout(self.encode(self.embedding(question)))  # (pairs, n, hidden)
        second = self.dropout(self.encode(self.embedding(text)))  # (pairs, m, hidden)
        aligned_first, aligned_second = co_attention(first, second, asked, answered, self.shape.k_max)
        compared = (aligned_first * first, asked), (aligned_second * second, answered)  # equation 4
        return {
            level: self.dropout(torch.cat([self.aggregate[level](words, mask) for words, mask in compared], -1))
            for level in levels
        }


def _cropped(ids: Tensor) -> Tensor:
    """Without the columns that are padding in every row."""
    return ids[:, : int((ids != PAD).sum(1).max())]
