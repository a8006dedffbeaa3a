"""The shape of a monolithic or cascade transformer: what `cascada.json` says of it. No weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from cascada.core.errors import CascadaError
from cascada.core.folder import read_exported_shape

Head = Literal["first", "mean", "mean-without-first"]
"""TANDA's head on the first token, the Cascade Transformer's on the mean of all tokens, and the same without the first
token, which is for comparison and cannot be exported."""


@dataclass(frozen=True)
class CascadeShape:
    """Where candidates may be dropped, and what scores them there. A single exit makes a monolithic ranker."""

    exits: tuple[int, ...]
    head: Head = "mean"
    dropout: float = 0.1
    """Of the heads, in training."""
    max_length: int = 256
    """Tokens of question and candidate together."""
    head_width: int | None = None
    """The width of a head's dense layers; by default the encoder's."""

    def __post_init__(self) -> None:
        if not self.layer_exits or any(before >= layer for before, layer in pairwise((-1, *self.exits))):
            raise CascadaError(f"exits are {self.exits}; they must be layers in rising order, such as (0, 4, 6, 8).")
        if self.head not in get_args(Head):
            raise CascadaError(f"head is {self.head!r}; there are {', '.join(get_args(Head))}.")
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, (int, float)) or not 0 <= self.dropout < 1:
            raise CascadaError(f"dropout is {self.dropout!r}; it must be a number from 0 to below 1.")
        if isinstance(self.max_length, bool) or not isinstance(self.max_length, int):
            raise CascadaError(f"max_length is {self.max_length!r}; it must be a whole number.")

    @property
    def layer_exits(self) -> tuple[int, ...]:
        """The exits that follow a layer and have a head: all but exit 0."""
        return tuple(exit for exit in self.exits if exit)

    @property
    def exit_zero(self) -> bool:
        """Whether candidates may be dropped by late interaction of the embeddings, before the first layer."""
        return 0 in self.exits


def default_exits(depth: int) -> tuple[int, ...]:
    """Exits after two to six sixths of the layers, as in the paper: 4, 6, 8, 10 and 12 of twelve.

    The first exit comes after a third of the layers, because earlier scores are too poor to drop by. A stack too small
    for five exits has fewer.
    """
    sixths = (max(1, (depth * part + 3) // 6) for part in range(2, 7))  # rounded, halves up
    return tuple(dict.fromkeys(sixths))


@dataclass(frozen=True, kw_only=True)
class ExportedCascade(CascadeShape):
    """The shape of an exported ranker, with all that the engine has to know before it reads a graph."""

    hidden: int
    feed_forward: int
    pad_id: int
    kept: Literal["float32", "float16"]
    """The type of the hidden states between stages."""
    precision: str
    """How the matrix products are computed: int8 or fp32."""

    def to_dict(self) -> dict[str, Any]:
        """The content of `cascada.json`. Dropout is for training only."""
        return {name: value for name, value in dataclasses.asdict(self).items() if name != "dropout"}


def read_exported(folder: Path) -> ExportedCascade:
    """The shape of an exported ranker, after the checksums of all of its files were verified."""
    return read_exported_shape(folder, ExportedCascade)
