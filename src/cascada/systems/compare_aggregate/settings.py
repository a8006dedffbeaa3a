"""Settings in the recipe of a compare-aggregate network."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.objectives import levels as hierarchy
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.training.settings import Count, DataSettings, Positive, RankerTraining, SchemeLevels, Settings, Share, Text


class VectorSettings(Settings):
    source: Text
    """A file in GloVe's or word2vec's layout, or a folder with spaCy's table; see `cascada.text.vectors`."""
    learning_rate: Positive | None = None
    """Tune the vectors at this learning rate; they are frozen if not given."""


class CompareAggregateModel(Settings):
    """A compare-aggregate network; see docs/hierarchical.md."""

    kind: Literal["compare-aggregate"]
    levels: SchemeLevels
    """Each level and the levels whose features it reads, or the paper's name of a scheme, such as PRI(list)."""
    main: str | None = None
    """The level that ranks; the last level if not given."""
    vectors: VectorSettings | None = None
    """Pre-trained word vectors; without them, vectors are initialised at random and trained with the rest."""
    vocabulary: tuple[DataSettings, ...] = ()
    """Further data whose words are added to the vocabulary; it always covers train, dev and watch."""
    embedding: Count = CompareAggregateShape.embedding
    """The size of a word vector, if there are no pre-trained ones."""
    hidden: Count = CompareAggregateShape.hidden
    channels: Count = CompareAggregateShape.channels
    widths: Annotated[tuple[Count, ...], Field(min_length=1)] = CompareAggregateShape.widths
    k_max: tuple[Count, Count] | None = None
    """The number of words of the question, and of the sentence, that a word attends to; all of them if not given."""
    dropout: Share = CompareAggregateShape.dropout
    max_words: Count = CompareAggregateShape.max_words
    """Question and sentence are each truncated to this many words."""

    @model_validator(mode="after")
    def _main_is_a_level(self) -> CompareAggregateModel:
        hierarchy.main_level(self.levels, self.main)
        return self


class CompareAggregateTraining(RankerTraining):
    """Training settings of a compare-aggregate network."""

    @model_validator(mode="after")
    def _only_float32(self) -> CompareAggregateTraining:
        if self.precision != "float32":
            raise ValueError(f"precision is {self.precision}, but a compare-aggregate network is trained in float32")
        return self


Model, Training = CompareAggregateModel, CompareAggregateTraining


def origin(model: CompareAggregateModel) -> str:
    """What the initial weights are from, for the model card."""
    return f"the word vectors `{model.vectors.source}`" if model.vectors else "random weights"
