"""What a recipe of a compare-aggregate network may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.objectives import levels as hierarchy
from cascada.training.settings import Count, DataSettings, Positive, RankerTraining, SchemeLevels, Settings, Share, Text


class VectorSettings(Settings):
    source: Text
    """A file in GloVe's or word2vec's layout, or a folder with spaCy's table; see `cascada.text.vectors`."""
    learning_rate: Positive | None = None
    """Tune them at this rate; they stay as they are if not given."""


class CompareAggregateModel(Settings):
    """A network that compares words; see docs/hierarchical.md."""

    kind: Literal["compare-aggregate"]
    levels: SchemeLevels
    """Each level and the levels whose features it reads, or the paper's name of a scheme, such as PRI(list)."""
    main: str | None = None
    """The level that ranks; the last one if not given."""
    vectors: VectorSettings | None = None
    """Pre-trained word vectors; without them, words start at random and are learned with the rest."""
    vocabulary: tuple[DataSettings, ...] = ()
    """Other data whose words are to be known; those of train, dev and watch always are."""
    embedding: Count = 300
    """The size of a word's vector, if there are no pre-trained ones."""
    hidden: Count = 300
    channels: Count = 150
    widths: Annotated[tuple[Count, ...], Field(min_length=1)] = (1, 2, 3, 4, 5)
    k_max: tuple[Count, Count] | None = None
    """How many words of the question, and of the sentence, a word may attend to; all of them if not given."""
    dropout: Share = 0
    max_words: Count = 100
    """Of the question, and of the sentence; longer ones are cut."""

    @model_validator(mode="after")
    def _the_main_level_is_one_of_them(self) -> CompareAggregateModel:
        hierarchy.main_level(self.levels, self.main)
        return self


Model, Training = CompareAggregateModel, RankerTraining


def origin(model: CompareAggregateModel) -> str:
    """What the weights started from, for the model card."""
    return f"the word vectors `{model.vectors.source}`" if model.vectors else "random weights"
