"""What a recipe of a monolithic or cascade transformer may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.objectives import levels as hierarchy
from cascada.training.settings import Count, ExitTraining, SchemeLevels, Settings, Share, Text


class CascadeModel(Settings):
    """A monolithic or cascade transformer."""

    kind: Literal["transformer"] = "transformer"
    encoder: Text
    """A folder in the hub's layout, a hub name, or the folder of a trained ranker to go on from."""
    layers: Count | None = None
    """Cut to the first n layers; all of them if not given."""
    exits: Annotated[tuple[Count, ...], Field(min_length=1)] | Literal["default"] | None = None
    """Layers after which candidates may leave, the last one included: a cascade. `default` spaces them as the paper
    does (4, 6, 8, 10, 12 of 12 layers); without them the ranker is monolithic."""
    head: Literal["first", "mean"] = "mean"
    dropout: Share = 0.1
    """Of the head; the encoder keeps its own."""
    max_length: Annotated[int, Field(ge=8, le=8192)] = 256
    levels: SchemeLevels | None = None
    """Point, pair and list with a head each on every exit: each level and the levels whose features it reads, or the
    name of a scheme, such as PRI(list). Without them an exit has one head, which learns from all that is named."""
    main: str | None = None
    """The level that ranks; the last one if not given."""

    @model_validator(mode="after")
    def _levels_stand_on_the_mean(self) -> CascadeModel:
        if self.levels and self.head != "mean":
            raise ValueError(f"levels need head: mean, not {self.head}")
        if self.levels:
            hierarchy.main_level(self.levels, self.main)
        elif self.main is not None:
            raise ValueError("main names one of levels, and there are none")
        return self


Model, Training = CascadeModel, ExitTraining


def origin(model: CascadeModel) -> str:
    """What the weights started from, for the model card."""
    return f"`{model.encoder}`"
