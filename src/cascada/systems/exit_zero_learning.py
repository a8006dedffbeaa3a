"""Learn the weights of exit 0's word pieces from lists with labels, beginning at those it has; nothing else changes.

    scores = scale · Σ_i w_i · max_j cos(q_i, t_j) / Σ_i w_i,   w = IDF · exp(d) · (IDF among the candidates)^¼

`d`, one number per word piece, and `scale` are learned by the list objective, one pass over the questions. Pieces that
no question has keep their IDF. It takes seconds for hundreds of questions, since no layer is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cascada.core.shares import share_of
from cascada.data import Group
from cascada.encoders.exit_zero import ExitZeroWeights
from cascada.encoders.late_interaction import ExitZero, PieceVectors, idf_among
from cascada.objectives.losses import list_level
from cascada.ranking.executor import best_first
from cascada.ranking.stage import NO_DEADLINE, Ints, Pairs
from cascada.text.pairs import PairTokenizer

QUESTIONS_AT_ONCE = 8
RATE, SCALE_RATE = 0.01, 0.02
FIRST_SCALE = 20.0
DROPPED = Decimal("0.7")
"""The share that exit 0 drops where weights are compared."""


@dataclass(frozen=True)
class Comparison:
    """The learned weights and those before, on questions that nothing was learned from."""

    before: float
    """The share of correct candidates that is kept if exit 0, by the weights it had, drops DROPPED of every list."""
    learned: float
    questions: int

    @property
    def better(self) -> bool:
        return self.learned > self.before

    def sentence(self, before: str) -> str:
        """The comparison in words; `before` names the weights that exit 0 had, such as "by IDF alone"."""
        verdict = "kept" if self.better else "not kept"
        return (
            f"Of {self.questions:,} questions that nothing was learned from, exit 0 keeps {self.learned:.1%} of the "
            f"correct candidates when it drops {float(DROPPED):.0%}; {before} {self.before:.1%}. "
            f"The learned weights are {verdict}."
        )


def learn_weights(
    exit_zero: ExitZeroWeights,
    vectors: PieceVectors,
    tokenizer: PairTokenizer,
    groups: Sequence[Group],
    check: Sequence[Group],
    *,
    seed: int = 0,
) -> Comparison:
    """Learn from `groups`, compare on `check`, and leave the better weights in `exit_zero`."""
    weights = exit_zero.weights.clone()
    before = correct_kept(vectors, tokenizer, check)
    learned = _learn(vectors, tokenizer, groups, seed)
    after = correct_kept(_with_weights(vectors, learned), tokenizer, check)
    comparison = Comparison(before, after, len(check))
    exit_zero.weights.copy_(learned if comparison.better else weights)
    return comparison


def correct_kept(vectors: PieceVectors, tokenizer: PairTokenizer, groups: Iterable[Group]) -> float:
    """The mean share of a question's correct candidates that exit 0 keeps if it drops DROPPED of the list."""
    stage, shares = ExitZero(vectors, tokenizer), []
    for group in groups:
        correct = np.array(group.labels) > 0
        if correct.any():
            pairs = Pairs([group.question], group.texts, np.zeros(len(group.texts), np.int64))
            order = best_first(stage.score(pairs, None, NO_DEADLINE).scores)
            kept = order[: len(order) - share_of(DROPPED, len(order))]
            shares.append(correct[kept].sum() / correct.sum())
    return float(np.mean(shares)) if shares else 0.0


def _learn(vectors: PieceVectors, tokenizer: PairTokenizer, groups: Sequence[Group], seed: int) -> Tensor:
    """The learned weights, (vocabulary,)."""
    idf = torch.from_numpy(vectors.weights)
    change = nn.Parameter(torch.zeros_like(idf))
    scale = nn.Parameter(torch.tensor(FIRST_SCALE).log())
    optimizer = torch.optim.Adam([{"params": [change], "lr": RATE}, {"params": [scale], "lr": SCALE_RATE}])
    lists = _Lists(vectors, tokenizer)
    for batch in _batches(groups, seed):
        losses = []
        for group in batch:
            question, best = lists.best_matches(group)  # (pieces,), (pieces, candidates)
            if len(question):
                weights = idf[question] * change[question].exp() * torch.from_numpy(idf_among(best.numpy()))
                scores = scale.exp() * (weights @ best) / weights.sum()
                labels = torch.tensor([int(label > 0) for label in group.labels])
                losses.append(len(labels) * list_level(scores, labels, torch.zeros_like(labels)))
        if losses:
            optimizer.zero_grad()
            loss: Any = torch.stack(losses).mean()
            loss.backward()
            optimizer.step()
    return (idf * change.exp()).detach()


class _Lists:
    """The best matches of a question's pieces in each candidate. They do not depend on the weights."""

    def __init__(self, vectors: PieceVectors, tokenizer: PairTokenizer) -> None:
        self.vectors, self.tokenizer = vectors, tokenizer

    def best_matches(self, group: Group) -> tuple[Tensor, Tensor]:
        """The ids of the question's pieces, and their best cosine with any piece of each candidate; -1 without one."""
        tokens = self.tokenizer.tokenise([group.question], group.texts, np.zeros(len(group.texts), np.int64))
        rows = np.arange(len(group.texts))
        question = self._known(tokens.question(0))
        ids, lengths = tokens.text_ids(rows)
        owner = np.repeat(rows, lengths)[self.vectors.weights[ids] > 0]
        pieces, column = np.unique(self._known(ids), return_inverse=True)
        best = np.full((len(question), len(rows)), -1, np.float32)
        if len(question) and len(pieces):
            cosines = self.vectors.cosines(question, pieces)
            some, starts = np.unique(owner, return_index=True)
            best[:, some] = np.maximum.reduceat(cosines[:, column], starts, axis=1)
        return torch.from_numpy(question.astype(np.int64)), torch.from_numpy(best)

    def _known(self, ids: Ints) -> Ints:
        return ids[self.vectors.weights[ids] > 0]


def _batches(groups: Sequence[Group], seed: int) -> Iterator[list[Group]]:
    """Questions with correct and incorrect candidates, in random order."""
    useful = [group for group in groups if 0 < sum(label > 0 for label in group.labels) < len(group.labels)]
    order = np.random.default_rng(seed).permutation(len(useful))
    for start in range(0, len(order), QUESTIONS_AT_ONCE):
        yield [useful[place] for place in order[start : start + QUESTIONS_AT_ONCE]]


def _with_weights(vectors: PieceVectors, weights: Tensor) -> PieceVectors:
    return PieceVectors(vectors.table, vectors.mean, weights.numpy(), vectors.scaling, vectors.row_scales)
