"""What a compare-aggregate ranker is, without its weights."""

from __future__ import annotations

from dataclasses import dataclass, field

from cascada.objectives.levels import Levels, checked, main_level


@dataclass(frozen=True)
class CompareAggregateShape:
    """Sizes and levels; `main` is the level that ranks, the last one if not given."""

    levels: Levels = field(default_factory=lambda: {"point": ()})
    main: str | None = None
    embedding: int = 300
    hidden: int = 300
    channels: int = 150
    widths: tuple[int, ...] = (1, 2, 3, 4, 5)
    k_max: tuple[int, int] | None = None
    """How many words of the question, and of the sentence, a word may attend to; all of them if not given."""
    dropout: float = 0.0
    max_words: int = 100

    def __post_init__(self) -> None:
        levels = checked(self.levels)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "main", main_level(levels, self.main))
        object.__setattr__(self, "widths", tuple(self.widths))
        object.__setattr__(self, "k_max", None if self.k_max is None else tuple(self.k_max))

    @property
    def feature(self) -> int:
        """The width of r = [r_q ; r_a]."""
        return 2 * self.channels * len(self.widths)
