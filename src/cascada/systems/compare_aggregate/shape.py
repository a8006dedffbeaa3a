"""The shape of a compare-aggregate ranker: what `cascada.json` says of it. No weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cascada.core.folder import read_exported_shape
from cascada.objectives.levels import Levels, checked_levels, main_level

KIND = "compare-aggregate"
"""The kind of ranker in `cascada.json` and in recipes."""


@dataclass(frozen=True)
class CompareAggregateShape:
    """Levels and sizes. `main` is the level that ranks, by default the last one."""

    levels: Levels = field(default_factory=lambda: {"point": ()})
    main: str | None = None
    embedding: int = 300
    hidden: int = 300
    channels: int = 150
    widths: tuple[int, ...] = (1, 2, 3, 4, 5)
    k_max: tuple[int, int] | None = None
    """The number of words of the question, and of the sentence, that a word attends to; by default all of them."""
    dropout: float = 0.0
    max_words: int = 100
    """Words of a question, and of a sentence."""

    def __post_init__(self) -> None:
        levels = checked_levels(self.levels)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "main", main_level(levels, self.main))
        object.__setattr__(self, "widths", tuple(self.widths))
        object.__setattr__(self, "k_max", None if self.k_max is None else tuple(self.k_max))

    @property
    def feature(self) -> int:
        """The width of r = [r_q ; r_a]."""
        return 2 * self.channels * len(self.widths)

    def to_dict(self) -> dict[str, Any]:
        """The content of `cascada.json`. The network has one stage, which is exit 0."""
        return {"kind": KIND, "exits": [0], **dataclasses.asdict(self)}


@dataclass(frozen=True, kw_only=True)
class ExportedCompareAggregate(CompareAggregateShape):
    """The shape of an exported ranker."""

    precision: str = "fp32"
    """How the matrix products are computed: int8 or fp32."""


def read_exported(folder: Path) -> ExportedCompareAggregate:
    """The shape of an exported ranker, after the checksums of all of its files were verified."""
    return read_exported_shape(folder, ExportedCompareAggregate, ignore=("exits",))
