"""Sums and extremes over each group's rows, where a batch lays groups of any size end to end.

`owner` (rows,) gives each row's group as a number from 0 up. There is no padding, so nothing of it can leak.
"""

from __future__ import annotations

import torch
from torch import Tensor


def group_count(owner: Tensor) -> int:
    return int(owner.max()) + 1 if len(owner) else 0


def group_sum(values: Tensor, owner: Tensor, groups: int) -> Tensor:
    """(groups,) sums of (rows,) values; 0 for a group without rows."""
    return values.new_zeros(groups).index_add(0, owner, values)


def group_max(values: Tensor, owner: Tensor, groups: int) -> Tensor:
    """(groups,) largest of (rows,) values; minus infinity for a group without rows."""
    lowest = values.new_full((groups,), -torch.inf)
    return lowest.scatter_reduce(0, owner, values, "amax")


def group_log_softmax(scores: Tensor, owner: Tensor) -> Tensor:
    """(rows,): each row's log-probability among the rows of its group."""
    groups = group_count(owner)
    shifted = scores - group_max(scores.detach(), owner, groups)[owner]  # so that no exponential overflows
    return shifted - group_sum(shifted.exp(), owner, groups).log()[owner]


def mean_where(values: Tensor, counts: Tensor) -> Tensor:
    """Mean of the groups' values over the groups that count; 0, with a gradient of 0, if none does."""
    return torch.where(counts, values, 0.0).sum() / counts.sum().clamp(min=1)
