"""Aggregation: convolutions over a text's words, and the largest value of each channel (equation 5).

Nearly all of the network's time is spent here, so the computation is optimised. Texts are concatenated without padding,
and all levels share one matrix product. Only the largest value of a channel has a gradient, so the backward pass costs
one window per channel, whatever the length of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, pad


class Aggregation(nn.Module):
    """One level's convolutions, one for each width."""

    def __init__(self, hidden: int, channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList([nn.Conv1d(hidden, channels, width) for width in widths])


@dataclass(frozen=True)
class Filter:
    """The convolutions of one width, for all levels that are computed together."""

    taps: Tensor  # (width, channels of all levels, hidden)
    bias: Tensor  # (channels of all levels,)


def filters_of(levels: Sequence[Aggregation]) -> list[Filter]:
    """The filters of each width, with the channels of all levels concatenated."""

    def concatenated(layers: Sequence[Any]) -> Filter:
        taps = torch.cat([layer.weight for layer in layers]).permute(2, 0, 1).contiguous()
        return Filter(taps, torch.cat([layer.bias for layer in layers]))

    return [concatenated(layers) for layers in zip(*(level.convolutions for level in levels), strict=True)]


def aggregate(states: Tensor, mask: Tensor, filters: Sequence[Filter]) -> list[Tensor]:
    """For each width, (pairs, channels of all levels) from states (pairs, words, hidden).

    `mask` is True on real words. A text is padded with zeros at both ends, so that it has as many windows as words.
    """
    pairs, longest, hidden = states.shape
    windows = Windows.of(mask, [len(filter.taps) for filter in filters])
    rows = pad(states.reshape(pairs * longest, hidden), (0, 0, 0, 1))  # the last row is zero, for words outside a text
    flat = [part for filter in filters for part in (filter.taps, filter.bias)]
    maxima = _LargestValues.apply(rows, windows, *flat)  # type: ignore[no-untyped-call]
    return [torch.relu(values) for values in maxima]


@dataclass(frozen=True)
class Windows:
    """The rows of the neighbours of each word, for texts sorted by length."""

    rows: Tensor  # (offsets, words): the row at each offset from a word, the most negative offset first
    first: tuple[int, ...]  # for each width, the index of the first offset of its windows
    runs: tuple[tuple[int, int], ...]  # (number of texts, words per text) of texts of equal length
    back: Tensor  # (pairs,): the position of each pair in the sorted order

    @classmethod
    def of(cls, mask: Tensor, widths: Sequence[int]) -> Windows:
        pairs, longest = mask.shape
        before = max((width - 1) // 2 for width in widths)
        after = max(width // 2 for width in widths)
        lengths = mask.sum(1)
        order = lengths.argsort(stable=True)
        text, place = mask[order].nonzero(as_tuple=True)  # (words,)
        near = place + torch.arange(-before, after + 1, device=mask.device)[:, None]  # (offsets, words)
        inside = (near >= 0) & (near < lengths[order][text])
        rows = torch.where(inside, order[text] * longest + near, pairs * longest)
        length, texts = torch.unique_consecutive(lengths[order], return_counts=True)
        runs = tuple(zip(texts.tolist(), length.tolist(), strict=True))
        return cls(rows, tuple(before - (width - 1) // 2 for width in widths), runs, order.argsort())


class _LargestValues(torch.autograd.Function):
    """The largest value of each filter in each text; only these values have a gradient."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, windows: Windows, *flat: Tensor) -> tuple[Tensor, ...]:
        near = [rows[places] for places in windows.rows]  # offsets × (words, hidden)
        best, where = [], []
        for taps, bias, first in zip(flat[::2], flat[1::2], windows.first, strict=True):
            values = bias.repeat(len(near[0]), 1)  # (words, channels)
            for distance, tap in enumerate(taps, first):
                torch.addmm(values, near[distance], tap.t(), out=values)
            strongest, at = _largest(values, windows.runs)
            best.append(strongest[windows.back])
            where.append(at[windows.back])
        ctx.windows = windows
        ctx.save_for_backward(rows, *flat[::2], *where)
        return tuple(best)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        rows, *saved = ctx.saved_tensors
        count = len(gradients)
        of_rows, of_filters = torch.zeros_like(rows), []
        for taps, at, first, gradient in zip(saved[:count], saved[count:], ctx.windows.first, gradients, strict=True):
            near = ctx.windows.rows[first : first + len(taps)]
            own_rows, own_taps = _gradients(rows, taps, near, at, gradient)
            of_rows += own_rows
            of_filters += [own_taps, gradient.sum(0)]
        return of_rows, None, *of_filters


def _largest(values: Tensor, runs: Sequence[tuple[int, int]]) -> tuple[Tensor, Tensor]:
    """(texts, channels): the largest of each text's values (words, channels), and the index of its word."""
    best, where, start = [], [], 0
    for texts, length in runs:
        largest, place = values[start : start + texts * length].view(texts, length, -1).max(1)
        best.append(largest)
        where.append(place + start + length * torch.arange(texts, device=values.device)[:, None])
        start += texts * length
    return torch.cat(best), torch.cat(where)


def _gradients(rows: Tensor, taps: Tensor, near: Tensor, at: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of `rows` and of `taps`, from the gradients (texts, channels) of the values at the words `at`."""
    width, channels, hidden = taps.shape
    channel, text = gradient.t().nonzero(as_tuple=True)  # in channel order; values that ReLU set to zero have none
    amount = gradient[text, channel].repeat(width)
    row = near[:, at[text, channel]].flatten()  # (width · values,)
    tap = (channel + channels * torch.arange(width, device=rows.device)[:, None]).flatten()
    of_taps = _sums(rows, row, tap, amount, width * channels)
    row, order = row.sort()
    of_rows = _sums(taps.reshape(width * channels, hidden), tap[order], row, amount[order], len(rows))
    return of_rows, of_taps.view_as(taps)


def _sums(table: Tensor, chosen: Tensor, owner: Tensor, amount: Tensor, owners: int) -> Tensor:
    """(owners, hidden): the sum of each owner's chosen rows, weighted by `amount`. `owner` must be sorted."""
    ends = torch.bincount(owner, minlength=owners).cumsum(0)
    return embedding_bag(
        chosen, table, pad(ends, (1, 0)), mode="sum", per_sample_weights=amount, include_last_offset=True
    )


def by_level(maxima: Tensor, levels: Sequence[str]) -> Iterator[tuple[str, Tensor]]:
    """Split values (2, widths, pairs, channels of all levels), of both sides, into the feature of each level."""
    for level, own in zip(levels, maxima.chunk(len(levels), -1), strict=True):
        yield level, own.permute(2, 0, 1, 3).flatten(1)  # (pairs, 2 · widths · channels)
