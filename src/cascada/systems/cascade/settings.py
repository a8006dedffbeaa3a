"""Settings in the recipe of a monolithic or cascade transformer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.objectives import levels as hierarchy
from cascada.systems.cascade.shape import CascadeShape, Head
from cascada.training.settings import Count, ExitTraining, Layer, SchemeLevels, Settings, Share, Text


class CascadeModel(Settings):
    """A monolithic or cascade transformer."""

    kind: Literal["transformer"] = "transformer"
    encoder: Text
    """A folder in the hub's layout, a hub name, or the folder of a trained ranker to continue from."""
    layers: Count | None = None
    """Keep the first n layers; all of them if not given."""
    exits: Annotated[tuple[Layer, ...], Field(min_length=1)] | Literal["default"] | None = None
    """Layers after which candidates may be dropped, the last layer included: a cascade. `default` spaces them as in the
    paper (4, 6, 8, 10, 12 of 12 layers); without exits the ranker is monolithic. Exit 0 drops candidates by late
    interaction of the embeddings, before the first layer."""
    head: Head = CascadeShape.head
    dropout: Share = CascadeShape.dropout
    """Dropout of the head; the encoder keeps its own."""
    max_length: Annotated[int, Field(ge=8, le=8192)] = CascadeShape.max_length
    """Question and candidate together are truncated to this many tokens."""
    levels: SchemeLevels | None = None
    """Give every exit a head per level: each level and the levels whose features it reads, or the name of a scheme,
    such as PRI(list). Without levels an exit has one head, trained with all objectives of the recipe."""
    main: str | None = None
    """The level that ranks; the last level if not given."""

    @model_validator(mode="after")
    def _levels_fit_the_head(self) -> CascadeModel:
        if self.levels and self.head != "mean":
            raise ValueError(f"levels need head: mean, not {self.head}")
        if self.levels:
            hierarchy.main_level(self.levels, self.main)
        elif self.main is not None:
            raise ValueError("main names one of the levels, but there are no levels")
        return self


Model, Training = CascadeModel, ExitTraining


def origin(model: CascadeModel) -> str:
    """What the initial weights are from, for the model card."""
    return f"`{model.encoder}`"
