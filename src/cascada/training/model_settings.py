"""What a recipe may say of the model: a transformer, a compare-aggregate network or a decoupled ranker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from cascada.models import levels as hierarchy
from cascada.training.base_settings import Count, DataSettings, Positive, Settings, Share, Text


def _scheme(levels: object) -> object:
    """A scheme by the paper's name for it, as levels."""
    if not isinstance(levels, str):
        return levels
    if levels not in hierarchy.SCHEMES:
        raise ValueError(f"there are {', '.join(hierarchy.SCHEMES)}, or levels with what each reads")
    return hierarchy.SCHEMES[levels]


SchemeLevels = Annotated[dict[str, tuple[str, ...]], BeforeValidator(_scheme), AfterValidator(hierarchy.checked)]


class ModelSettings(Settings):
    """A transformer."""

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
    def _levels_stand_on_the_mean(self) -> ModelSettings:
        if self.levels and self.head != "mean":
            raise ValueError(f"levels need head: mean, not {self.head}")
        if self.levels:
            hierarchy.main_level(self.levels, self.main)
        elif self.main is not None:
            raise ValueError("main names one of levels, and there are none")
        return self


class VectorSettings(Settings):
    source: Text
    """A file in GloVe's or word2vec's layout, or a folder with spaCy's table; see `cascada.text.vectors`."""
    learning_rate: Positive | None = None
    """Tune them at this rate; they stay as they are if not given."""


class CompareAggregateSettings(Settings):
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
    def _the_main_level_is_one_of_them(self) -> CompareAggregateSettings:
        hierarchy.main_level(self.levels, self.main)
        return self


class DecoupledSettings(Settings):
    """A ranker that encodes question and document apart; see docs/decoupled.md."""

    kind: Literal["decoupled"]
    encoder: Text
    """A folder in the hub's layout, a hub name, or the folder of a trained ranker to start from."""
    join: Count | None = None
    """Layers that each side runs by itself; all of the encoder's if not given, as in DC-BERT."""
    exits: Annotated[tuple[Count, ...], Field(min_length=1)] | None = None
    """Layers after which candidates may leave, counted on above the join. At the join itself: by cosine. If not given:
    the encoder's last layer, or one layer above the join if that is its last."""
    towers: Literal["two", "shared"] = "two"
    interaction: Literal["layers", "linear", "lstm"] = "layers"
    keep: Count | None = None
    """Dimensions in which documents are cached; all of them if not given."""
    question_length: Annotated[int, Field(ge=8)] = 50
    max_length: Annotated[int, Field(ge=8, le=8192)] = 256
    """Tokens of a document."""
    dropout: Share = 0.1
    """Of the classifiers; the encoder keeps its own."""
    scores: Literal["own", "added"] = "own"
    """Of exits above the join: their own, or added to the score of the one at the join, as which they begin."""


MODELS: dict[str, type[Settings]] = {
    "kind=transformer": ModelSettings,
    "kind=compare-aggregate": CompareAggregateSettings,
    "kind=decoupled": DecoupledSettings,
}


def _kind(model: Any) -> str:
    kind = model.get("kind", "transformer") if isinstance(model, Mapping) else getattr(model, "kind", "transformer")
    return f"kind={kind}"


AnyModel = Annotated[
    Annotated[ModelSettings, Tag("kind=transformer")]
    | Annotated[CompareAggregateSettings, Tag("kind=compare-aggregate")]
    | Annotated[DecoupledSettings, Tag("kind=decoupled")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message="its kind should be transformer, compare-aggregate or decoupled",
    ),
]
