"""What a monolithic or cascade transformer is, without its weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cascada.core.errors import CascadaError
from cascada.core.folder import check_manifest, parsed

HEADS = ("first", "mean")
"""TANDA's head on the first token, and the Cascade Transformer's on the mean of all tokens."""


@dataclass(frozen=True)
class Shape:
    """Where candidates may leave, and what scores them there. One exit at the last layer is a monolithic ranker."""

    exits: tuple[int, ...]
    head: str = "mean"
    dropout: float = 0.1
    max_length: int = 256
    head_width: int | None = None
    """Of the dense layers of a head; the encoder's own if not given."""

    def __post_init__(self) -> None:
        if not self.exits or any(layer <= before for before, layer in zip((0, *self.exits), self.exits, strict=False)):
            raise CascadaError(f"exits are {self.exits}; they must be layers in rising order, such as (4, 6, 8).")
        if self.head not in HEADS:
            raise CascadaError(f"head is {self.head!r}; there are {', '.join(HEADS)}.")
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, (int, float)) or not 0 <= self.dropout < 1:
            raise CascadaError(f"dropout is {self.dropout!r}; it must be a number from 0 to below 1.")
        if isinstance(self.max_length, bool) or not isinstance(self.max_length, int):
            raise CascadaError(f"max_length is {self.max_length!r}; it must be a whole number.")


def default_exits(depth: int) -> tuple[int, ...]:
    """Exits after two to six sixths of the layers, as the paper has them: 4, 6, 8, 10 and 12 of twelve.

    A third of the layers have to run before a first judgement is worth having. A stack too small for five exits has
    fewer of them.
    """
    sixths = (max(1, (depth * part + 3) // 6) for part in range(2, 7))  # rounded, halves up
    return tuple(dict.fromkeys(sixths))


@dataclass(frozen=True)
class Exported:
    """What the engine has to know before it reads a graph."""

    exits: tuple[int, ...]
    head: str
    max_length: int
    hidden: int
    feed_forward: int
    pad_id: int
    kept: Literal["float32", "float16"]
    """How hidden states are held between stages."""
    precision: str
    """How the products are computed, in words for people."""
    head_width: int | None = None
    """Of the dense layers of a head; `hidden` if not given."""


def read_exported(folder: Path) -> Exported:
    """The shape of an exported ranker, once all of its files match their checksums."""
    shape = parsed(folder, Exported)
    check_manifest(folder)
    return shape
