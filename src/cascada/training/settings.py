"""What a recipe may say. Everything is checked before anything heavy happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from cascada.data import Mode
from cascada.models import levels as hierarchy

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


class Settings(BaseModel):
    """Unknown keys are refused, and nothing changes once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_setting_is_yes_or_no(cls, value: object) -> object:
        if isinstance(value, bool):  # which Python, and so pydantic, would take for 1 or 0
            raise ValueError("no setting is true or false")
        return value


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


class DataSettings(Settings):
    source: Text
    """A data set's name, a JSONL file, NAME:FILE or hf:ID; see `cascada.data.read`."""
    root: str | None = None
    split: str | None = None
    mode: Mode = "raw"
    questions: Count | None = None
    """Only the first so many questions."""
    grades: tuple[int, ...] | None = None
    """For training: of the wrong candidates only those of these finer labels (ASNQ: 1 to 3)."""
    noise: Share = 0
    """For training: flip this share of the labels, drawn by `noise_seed`."""
    noise_seed: Annotated[int, Field(ge=0)] = 0
    also: tuple[DataSettings, ...] = ()
    """For training: other data to be put together with this."""


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


class BatchSettings(Settings):
    by: Literal["tokens", "questions", "pairs"] = "tokens"
    """A budget of padded tokens with pairs of like length together; whole questions; or a fixed number of pairs."""
    size: Count = 2000
    accumulate: Count = 1
    """Batches whose gradients are averaged for each update."""
    others: Annotated[int, Field(ge=0)] = 0
    """For a decoupled ranker, by questions: with how many documents of the batch's other questions each question is
    compared too, as wrong ones. A document is encoded once, with however many questions it is compared."""


class ExitTraining(Settings):
    """How the exits of a cascade are trained; of no effect on a monolithic ranker."""

    sample: Literal["uniform", "round-robin", "early", "all"] = "uniform"
    """Which exit an update trains: one at random, each in turn, the early ones more often at first, or all of them
    with their losses summed."""
    fade: Annotated[float, Field(gt=0, le=1)] = 0.5
    """For `early`: the share of the run after which all exits are equally likely."""
    gradient: Literal["embeddings", "exit-before"] = "embeddings"
    """How far down an exit's loss goes."""
    distill: Annotated[float, Field(ge=0, le=1)] = 0
    """The share of an early exit's loss that comes from the last exit's opinion rather than from the labels."""
    temperature: Positive = 1.0
    """Of the distillation: higher softens both sides."""


class ObjectiveSettings(Settings):
    """What is learned from, and how much each part counts.

    A transformer learns from what is named, from `point` if nothing is. A compare-aggregate network learns from its
    levels, each of which counts 1 if it is not named.
    """

    point: Weight | None = None
    pair: Weight | None = None
    list: Weight | None = None
    margin: Positive = 1.0
    """By how much a correct candidate should exceed a wrong one, for `pair`."""
    against: Literal["all", "hardest"] = "all"
    """Each correct candidate against all wrong ones of its question, or against the one that scores highest."""
    normalise: Literal["none", "sigmoid"] = "none"
    """What is done to scores before they are compared in pairs."""

    @property
    def named(self) -> dict[str, float]:
        """The weights that are given and above 0."""
        return {name: weight for name in hierarchy.OBJECTIVES if (weight := getattr(self, name))}


class TeacherSettings(Settings):
    """Another ranker to learn from, beside the labels."""

    model: Text
    """A trained ranker, by any name that `Ranker.load` takes."""
    share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """How much of the loss is the difference to its opinion."""
    temperature: Positive = 2.0
    """Higher softens both sides."""


class TrainingSettings(Settings):
    epochs: Count = 3
    learning_rate: Positive = 1e-4
    schedule: Literal["linear", "triangular", "constant"] = "linear"
    warmup: Annotated[float, Field(ge=0)] = 0.1
    """Updates of ramp-up; below 1, a share of all updates."""
    batch: BatchSettings = BatchSettings()
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    max_gradient: Positive = 1.0
    positive_weight: Positive | Literal["balanced"] = 1.0
    """How many times a correct pair counts; `balanced` makes both classes weigh the same."""
    negatives: Count | None = None
    """Wrong candidates per question, drawn anew each epoch; all of them if not given."""
    evaluations_per_epoch: Count = 1
    patience: Count | None = None
    """Stop after so many evaluations without a better dev MAP, or a reader's F1."""
    checkpoint_every: Count | None = None
    """Updates between checkpoints, beside the one at each evaluation."""
    exits: ExitTraining = ExitTraining()
    objective: ObjectiveSettings = ObjectiveSettings()
    teacher: TeacherSettings | None = None
    store: Text | None = None
    """For a decoupled ranker: a store, made if it is not there, that documents' encodings are read from. What encodes
    documents then stays as it is, and the trained ranker reads the same store."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1

    @model_validator(mode="after")
    def _others_are_of_questions(self) -> TrainingSettings:
        if self.batch.others and self.batch.by != "questions":
            raise ValueError("batch.others compares questions of a batch, so batch.by must be 'questions'")
        if self.batch.others and self.teacher:
            raise ValueError("a teacher scores each question's own candidates: batch.others has others")
        return self

    @model_validator(mode="after")
    def _triangular_needs_a_ramp(self) -> TrainingSettings:
        if self.schedule == "triangular" and self.warmup == 0:
            raise ValueError("the triangular schedule needs a warmup above 0")
        return self


class Recipe(Settings):
    kind: Literal["train"] = "train"
    output: Text
    """The folder of the run: checkpoints while it trains, the trained ranker when it is done."""
    model: AnyModel
    train: DataSettings
    dev: DataSettings
    """What chooses the best checkpoint, and when to stop."""
    watch: DataSettings | None = None
    """Another set to measure at each evaluation, for the record only."""
    training: TrainingSettings = TrainingSettings()

    @model_validator(mode="after")
    def _only_decoupled_rankers_have_documents_apart(self) -> Recipe:
        if not isinstance(self.model, DecoupledSettings) and (self.training.store or self.training.batch.others):
            raise ValueError("training.store and training.batch.others are for rankers of kind decoupled")
        return self

    @model_validator(mode="after")
    def _questions_are_whole_where_candidates_are_compared(self) -> Recipe:
        levels = getattr(self.model, "levels", None) or self.training.objective.named
        learned = {hierarchy.objective_of(level) for level in levels}
        by = self.training.batch.by
        if learned & {"pair", "list"} and by != "questions":
            raise ValueError(
                f"training.batch.by is '{by}': pair and list compare a question's candidates, so it must be 'questions'"
            )
        return self
