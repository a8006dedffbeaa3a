"""Heads that learn a model's own order from stored states: list-wise distillation, without a pass through the encoder.

Several heads are learned for each exit, and the one that ranks the model's best candidate highest on other questions is
taken. Its scores are scaled to be the best estimate of the model's own scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cascada.objectives.losses import distill_list
from cascada.ranking.executor import best_first, rows_of
from cascada.ranking.stage import Floats, Ints
from cascada.systems.cross_encoder.heads import new_head
from cascada.systems.cross_encoder.shape import ExitHead
from cascada.training.teacher import LIST_TEMPERATURE, standardised

WIDTHS = (0, 64)
"""Widths of the hidden layer that are tried; 0 is a linear head. All exits of a model have the same width."""
DECAYS = (0.1, 1.0)
"""Weight decays that are tried for each exit."""
EPOCHS = 30
PATIENCE = 5
"""Epochs without progress on the other questions after which learning stops."""
QUESTIONS_AT_ONCE = 8
LEARNING_RATE = 2e-3


@dataclass(frozen=True)
class Lists:
    """Some questions' pairs: their stored states, and the model's own scores."""

    states: NDArray[Any]  # (pairs, width), perhaps on disk
    scores: Floats  # (pairs,)
    owner: Ints  # (pairs,): the question's number, from 0

    def take(self, questions: Ints) -> Lists:
        """The pairs of some questions, read from the disk."""
        rows = np.flatnonzero(np.isin(self.owner, questions))
        _, owner = np.unique(self.owner[rows], return_inverse=True)
        return Lists(np.asarray(self.states[rows], np.float32), self.scores[rows], owner)


@dataclass(frozen=True)
class Learned:
    """A head, and where it ranks the model's best candidate on questions that it was not learned on."""

    head: nn.Sequential
    ranks: Ints  # (questions,): from 1


def learn_heads(
    lists: Mapping[int, Lists],
    learn: Ints,
    check: Ints,
    *,
    seed: int = 0,
    advance: Callable[[int], None] = lambda heads: None,
) -> tuple[int, dict[int, Learned]]:
    """The width of the hidden layer that serves the exits best, and the heads of all exits, by layer.

    `learn` and `check` are numbers of questions; no head is learned on those of `check`. `advance` is called with 1 for
    every head.
    """
    by_width: dict[int, dict[int, Learned]] = {width: {} for width in WIDTHS}
    for layer, states in lists.items():
        parts = states.take(learn), states.take(check)
        for width in WIDTHS:
            by_width[width][layer] = learn_head(*parts, width, seed=seed)
            advance(1)
    return min(by_width.items(), key=lambda item: sum(mean_log_rank(head.ranks) for head in item[1].values()))


def learn_head(learn: Lists, check: Lists, width: int, *, seed: int = 0) -> Learned:
    """The best of the heads with this hidden layer, by the questions of `check`."""
    mean, scale = torch.from_numpy(learn.states.mean(0)), torch.from_numpy(learn.states.std(0) + 1e-3)
    learn, check = (replace(lists, states=((lists.states - mean.numpy()) / scale.numpy())) for lists in (learn, check))
    tried = [_learned(learn, check, width, decay, seed) for decay in DECAYS]
    best = min(tried, key=lambda learned: mean_log_rank(learned.ranks))
    scores = best.head(torch.from_numpy(learn.states)).detach().numpy()[:, 0]
    fold_output_scaling(best.head, *score_scaling(scores, learn.scores))
    fold_input_scaling(best.head, mean, scale)
    return best


@torch.no_grad()
def fold_input_scaling(head: nn.Sequential, mean: Tensor, scale: Tensor) -> None:
    """Fold the standardisation (x - mean) / scale into the first layer, so that the head reads x itself."""
    first: Any = head[0]
    first.weight /= scale
    first.bias -= first.weight @ mean


@torch.no_grad()
def fold_output_scaling(head: nn.Sequential, scale: float, shift: float) -> None:
    """Fold a scale and a shift of the scores into the last layer."""
    last: Any = head[-1]
    last.weight *= scale
    last.bias *= scale
    last.bias += shift


def mean_log_rank(ranks: Ints) -> float:
    """The measure of a head, lower is better: halving a rank counts the same at the top and further down."""
    return float(np.log(ranks).mean())


def ranks_of_best(scores: Floats, wanted: Floats, owner: Ints) -> Ints:
    """The rank, by `scores`, of each question's best candidate by `wanted`: (questions,), from 1."""
    ranks = []
    for rows in rows_of(owner, int(owner.max(initial=-1)) + 1):
        best = best_first(wanted[rows])[0]
        ranks.append(int(np.flatnonzero(best_first(scores[rows]) == best)[0]) + 1)
    return np.array(ranks, np.int64)


def score_scaling(scores: Floats, wanted: Floats) -> tuple[float, float]:
    """Least-squares scale and shift from scores to the wanted ones; the scale is above 0, so that no order changes."""
    deviation = float(scores.std())
    if deviation < 1e-9:
        return 1.0, float(wanted.mean() - scores.mean())
    slope = float(((scores - scores.mean()) * (wanted - wanted.mean())).mean()) / deviation**2
    slope = max(slope, 1e-3 * float(wanted.std()) / deviation, 1e-6)
    return slope, float(wanted.mean() - slope * scores.mean())


def _learned(learn: Lists, check: Lists, width: int, decay: float, seed: int) -> Learned:
    """Train until the ranks on the other questions no longer improve, and return to the best epoch."""
    torch.manual_seed(seed)
    inputs, others = torch.from_numpy(learn.states), torch.from_numpy(check.states)
    head = new_head(ExitHead("both", width), inputs.shape[1] // 2)
    nn.init.zeros_(head[-1].weight)  # type: ignore[arg-type]
    optimizer = torch.optim.AdamW(head.parameters(), LEARNING_RATE, weight_decay=decay)
    batches = _Batches(learn, seed)
    best, weights, waited = None, head.state_dict(), 0
    for _ in range(EPOCHS):
        for rows, target, owner in batches.epoch():
            loss = distill_list(head(inputs[rows])[:, 0], target, owner)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        with torch.no_grad():
            ranks = ranks_of_best(head(others)[:, 0].numpy(), check.scores, check.owner)
        waited += 1
        if best is None or mean_log_rank(ranks) < mean_log_rank(best):
            best, weights, waited = ranks, deepcopy(head.state_dict()), 0
        if waited == PATIENCE:
            break
    head.load_state_dict(weights)
    assert best is not None
    return Learned(head, best)


class _Batches:
    """The questions to learn from, a few at a time, in another order every epoch."""

    def __init__(self, lists: Lists, seed: int) -> None:
        self.rows = rows_of(lists.owner, int(lists.owner.max()) + 1)
        used = np.ones(len(lists.scores), bool)
        self.target = torch.from_numpy(standardised(lists.scores, lists.owner, used) / LIST_TEMPERATURE)
        self.chance = np.random.default_rng(seed)

    def epoch(self) -> Sequence[tuple[Tensor, Tensor, Tensor]]:
        order = self.chance.permutation(len(self.rows))
        starts = range(0, len(order), QUESTIONS_AT_ONCE)
        return [self._batch(order[start : start + QUESTIONS_AT_ONCE]) for start in starts]

    def _batch(self, questions: Ints) -> tuple[Tensor, Tensor, Tensor]:
        rows = torch.from_numpy(np.concatenate([self.rows[question] for question in questions]))
        owner = np.repeat(np.arange(len(questions)), [len(self.rows[question]) for question in questions])
        return rows, self.target[rows], torch.from_numpy(owner)
