"""The settings that recipes share. A recipe is checked whole before anything is loaded.

The base classes here hold what several kinds of models have in common; the `settings.py` of a system's room adds the
keys of its own kind. A key that a kind does not use is rejected by name.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from cascada.data import Mode
from cascada.objectives import levels as hierarchy

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Layer = Annotated[int, Field(ge=0)]
Text = Annotated[str, Field(min_length=1)]


class Settings(BaseModel):
    """A group of settings: it rejects unknown keys and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_booleans(cls, value: object) -> object:
        """YAML reads `yes` and `on` as true, which pydantic would convert to 1."""
        if isinstance(value, bool):
            raise ValueError("no setting is true or false")
        return value


class DataSettings(Settings):
    """Where question groups come from."""

    source: Text
    """A data set's name, a JSONL file, NAME:FILE or hf:ID; see `cascada.data.read`."""
    root: str | None = None
    split: str | None = None
    mode: Mode = "raw"
    questions: Count | None = None
    """Use a sample of n questions, drawn from the whole data by `sample_seed`."""
    sample_seed: Seed = 0
    grades: tuple[int, ...] | None = None
    """For training: keep only the incorrect candidates with one of these finer labels (ASNQ: 1 to 3)."""
    wrong: Count | None = None
    """For training: keep only the first n incorrect candidates of a question. In lists that a search engine ordered,
    these are the ones that are hardest to tell from correct ones."""
    noise: Share = 0
    """For training: flip this share of the labels, chosen at random by `noise_seed`."""
    noise_seed: Seed = 0
    also: tuple[DataSettings, ...] = ()
    """For training: further data to add to this."""


class BatchSettings(Settings):
    """How pairs are put into batches."""

    by: Literal["tokens", "questions", "pairs"] = "tokens"
    """`tokens`: a budget of padded tokens, filled with pairs of similar length. `questions`: a number of questions with
    all of their candidates. `pairs`: a number of pairs."""
    size: Count = 2000
    accumulate: Count = 1
    """Average the gradients of this many batches for each update."""


class TrainingSettings(Settings):
    """Training settings of every kind of model."""

    epochs: Count = 3
    learning_rate: Positive = 1e-4
    schedule: Literal["linear", "triangular", "constant"] = "linear"
    warmup: Annotated[float, Field(ge=0)] = 0.1
    """Warm-up updates; a value below 1 is a share of all updates."""
    batch: BatchSettings = BatchSettings()
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    max_gradient: Positive = 1.0
    """Clip the gradient to this norm."""
    negatives: Count | None = None
    """Incorrect candidates per question, sampled anew in each epoch; all of them if not given."""
    evaluations_per_epoch: Count = 1
    patience: Count | None = None
    """Stop after this many evaluations without a better dev MAP (a reader: F1)."""
    checkpoint_every: Count | None = None
    """Updates between checkpoints, in addition to the checkpoint at each evaluation."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """`bfloat16` computes the products in 16 bits and keeps the weights in 32: about three times as fast on processors
    with bfloat16 instructions (`cascada doctor`), slower on others."""
    seed: Seed = 1

    @model_validator(mode="after")
    def _triangular_needs_warmup(self) -> TrainingSettings:
        if self.schedule == "triangular" and self.warmup == 0:
            raise ValueError("the triangular schedule needs a warmup above 0")
        return self


class EncoderTraining(TrainingSettings):
    """Training settings of every model with a pre-trained encoder."""

    encoder_dropout: Share | None = None
    """Dropout inside the encoder's layers; the encoder's own, mostly 0.1, if not given. At 0, an update on a CPU is a
    quarter to a third faster, and short runs on much data rarely need dropout."""


class ObjectiveSettings(Settings):
    """The objectives that a ranker is trained with, and their weights.

    A transformer is trained with the objectives that have a weight, or with `point` if none has. A compare-aggregate
    network is trained at each of its levels; a level without a weight has weight 1.
    """

    point: Weight | None = None
    pair: Weight | None = None
    list: Weight | None = None
    margin: Positive = 1.0
    """For `pair`: by how much a correct candidate's score should exceed an incorrect one's."""
    against: Literal["all", "hardest"] = "all"
    """For `pair`: compare a correct candidate with all incorrect ones of its question, or only with the one that
    scores highest."""
    normalise: Literal["none", "sigmoid"] = "none"
    """For `pair`: how scores are normalised before they are compared."""

    @property
    def weights(self) -> dict[str, float]:
        """The weights that are given and above 0."""
        return {name: weight for name in hierarchy.OBJECTIVES if (weight := getattr(self, name))}


class TeacherSettings(Settings):
    """A ranker to learn from, in addition to the labels."""

    model: Text | dict[Text, Positive]
    """A ranker, by any name that `Ranker.load` takes; at list level also several, each with its weight. `data`
    stands for the `score` that each candidate has in the training data, given by a ranker outside of Cascada;
    RANKER@STORE reads a decoupled ranker's document encodings from a store."""
    level: Literal["point", "list"] = "point"
    """`point`: learn the teacher's probability for each candidate. `list`: learn which of a question's candidates the
    teachers prefer; their scores are standardised within each question, and need not be probabilities."""
    share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The teacher's share of the loss; the labels have the rest."""
    temperature: Positive | None = None
    """Point level: a higher temperature softens both distributions; 2 if not given. List level: the target is the
    softmax of the standardised scores divided by the temperature; 0.4 if not given."""
    bonus: Weight = 0.0
    """List level: what a correct candidate's standardised score is raised by, so that labels correct the teachers."""

    @property
    def models(self) -> dict[str, float]:
        """The teachers and their weights."""
        return {self.model: 1.0} if isinstance(self.model, str) else self.model

    @model_validator(mode="after")
    def _several_teach_lists(self) -> TeacherSettings:
        if self.level == "point" and len(self.models) != 1:
            raise ValueError("several teachers can only be combined with level: list")
        if self.level == "point" and self.bonus:
            raise ValueError("bonus has a use only with level: list")
        if not self.models:
            raise ValueError("model names no teacher")
        return self


class RankerTraining(TrainingSettings):
    """Training settings of every kind of ranker."""

    positive_weight: Positive | Literal["balanced"] = 1.0
    """The weight of a correct pair at point level; `balanced` gives both classes the same total weight."""
    objective: ObjectiveSettings = ObjectiveSettings()
    teacher: TeacherSettings | None = None

    @model_validator(mode="after")
    def _lists_need_whole_questions(self) -> RankerTraining:
        if self.teacher and self.teacher.level == "list" and self.batch.by != "questions":
            raise ValueError(
                "teacher.level is 'list', which compares a question's candidates: batch.by must be 'questions'"
            )
        return self


class ExitSettings(Settings):
    """How the exits of a cascade are trained; no effect on a ranker with one exit."""

    sample: Literal["uniform", "round-robin", "early", "all"] = "uniform"
    """Which exits an update trains: a random one, each in turn, a random one with a preference for early exits that
    fades, or all of them with their losses summed."""
    fade: Annotated[float, Field(gt=0, le=1)] = 0.5
    """For `early`: the share of the run after which all exits are equally likely."""
    gradient: Literal["embeddings", "exit-before"] = "embeddings"
    """How far down the gradient of an exit's loss is propagated."""
    last: Positive = 1.0
    """For `all`: the weight of the last exit's loss; the other exits have weight 1."""
    distill: Annotated[float, Field(ge=0, le=1)] = 0
    """The share of an early exit's loss that comes from the last exit's predictions rather than from the labels."""
    temperature: Positive = 1.0
    """For `distill`: a higher temperature softens both distributions."""

    @model_validator(mode="after")
    def _one_exit_needs_no_weight(self) -> ExitSettings:
        if self.last != 1 and self.sample != "all":
            raise ValueError(f"last weights the losses of one update, so sample must be all, not {self.sample}")
        return self


class ExitTraining(EncoderTraining, RankerTraining):
    """Training settings of a ranker with exits."""

    exits: ExitSettings = ExitSettings()


def _scheme(levels: object) -> object:
    """Replace the paper's name of a scheme by its levels."""
    if not isinstance(levels, str):
        return levels
    if levels not in hierarchy.SCHEMES:
        raise ValueError(f"there are {', '.join(hierarchy.SCHEMES)}, or levels with what each reads")
    return hierarchy.SCHEMES[levels]


SchemeLevels = Annotated[dict[str, tuple[str, ...]], BeforeValidator(_scheme), AfterValidator(hierarchy.checked_levels)]
"""Each level and the levels whose features it reads, or the name of a scheme such as PRI(list)."""

Model = TypeVar("Model", bound=Settings)
Training = TypeVar("Training", bound=TrainingSettings)


class Recipe(Settings, Generic[Model, Training]):
    """One training run of a ranker."""

    kind: Literal["train"] = "train"
    output: Text
    """The run's folder: it holds checkpoints during training and the trained ranker at the end."""
    model: Model
    train: DataSettings
    dev: DataSettings
    """The data that selects the best checkpoint and decides when to stop."""
    watch: DataSettings | None = None
    """Another data set to measure at each evaluation; it is only recorded."""
    training: Training

    @model_validator(mode="before")
    @classmethod
    def _training_has_defaults(cls, content: Any) -> Any:
        return {"training": {}, **content} if isinstance(content, dict) else content

    @model_validator(mode="after")
    def _compared_candidates_share_a_batch(self) -> Recipe[Model, Training]:
        objective = getattr(self.training, "objective", None)
        levels = getattr(self.model, "levels", None) or (objective.weights if objective else {})
        objectives = {hierarchy.objective_of(level) for level in levels}
        by = self.training.batch.by
        if objectives & {"pair", "list"} and by != "questions":
            raise ValueError(
                f"training.batch.by is '{by}': pair and list compare a question's candidates, so it must be 'questions'"
            )
        return self
