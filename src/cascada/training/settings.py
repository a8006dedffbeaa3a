"""What a recipe may say. Everything is checked before anything heavy happens.

Each kind of ranker accepts its own keys: the settings here are what all of them share, and the `settings.py` of a room
adds to them. A key that a kind does not use is refused.
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
Text = Annotated[str, Field(min_length=1)]


class Settings(BaseModel):
    """Unknown keys are refused, and nothing changes once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_values(cls, value: object) -> object:
        """YAML reads `yes` and `on` as true, which pydantic would take for 1."""
        if isinstance(value, bool):
            raise ValueError("no setting is true or false")
        return value


class DataSettings(Settings):
    """Where groups come from."""

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


class BatchSettings(Settings):
    """What is trained on together."""

    by: Literal["tokens", "questions", "pairs"] = "tokens"
    """A budget of padded tokens with pairs of like length together; whole questions; or a fixed number of pairs."""
    size: Count = 2000
    accumulate: Count = 1
    """Batches whose gradients are averaged for each update."""


class TrainingSettings(Settings):
    """What every kind of model may say of its training."""

    epochs: Count = 3
    learning_rate: Positive = 1e-4
    schedule: Literal["linear", "triangular", "constant"] = "linear"
    warmup: Annotated[float, Field(ge=0)] = 0.1
    """Updates of ramp-up; below 1, a share of all updates."""
    batch: BatchSettings = BatchSettings()
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    max_gradient: Positive = 1.0
    negatives: Count | None = None
    """Wrong candidates per question, drawn anew each epoch; all of them if not given."""
    evaluations_per_epoch: Count = 1
    patience: Count | None = None
    """Stop after so many evaluations without a better dev MAP, or a reader's F1."""
    checkpoint_every: Count | None = None
    """Updates between checkpoints, in addition to the one at each evaluation."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1

    @model_validator(mode="after")
    def _triangular_needs_a_ramp(self) -> TrainingSettings:
        if self.schedule == "triangular" and self.warmup == 0:
            raise ValueError("the triangular schedule needs a warmup above 0")
        return self


class ObjectiveSettings(Settings):
    """What a ranker learns from, and the weight of each part.

    A transformer learns from the objectives that are named, from `point` if none is. A compare-aggregate network learns
    from its levels, each of which has weight 1 if it is not named.
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
    """The share of the loss that is the difference to the teacher's scores."""
    temperature: Positive = 2.0
    """Higher softens both sides."""


class RankerTraining(TrainingSettings):
    """What every kind of ranker may say of its training."""

    positive_weight: Positive | Literal["balanced"] = 1.0
    """How many times a correct pair counts; `balanced` makes both classes weigh the same."""
    objective: ObjectiveSettings = ObjectiveSettings()
    teacher: TeacherSettings | None = None


class ExitSettings(Settings):
    """How the exits of a cascade are trained; without effect on a ranker with one exit."""

    sample: Literal["uniform", "round-robin", "early", "all"] = "uniform"
    """Which exit an update trains: one at random, each in turn, the early ones more often at first, or all of them
    with their losses summed."""
    fade: Annotated[float, Field(gt=0, le=1)] = 0.5
    """For `early`: the share of the run after which all exits are equally likely."""
    gradient: Literal["embeddings", "exit-before"] = "embeddings"
    """How far down the gradient of an exit's loss goes."""
    distill: Annotated[float, Field(ge=0, le=1)] = 0
    """The share of an early exit's loss that comes from the last exit's scores rather than from the labels."""
    temperature: Positive = 1.0
    """Of the distillation: higher softens both sides."""


class ExitTraining(RankerTraining):
    """What a ranker with exits may say of its training."""

    exits: ExitSettings = ExitSettings()


def _scheme(levels: object) -> object:
    """Look up a scheme by the paper's name for it."""
    if not isinstance(levels, str):
        return levels
    if levels not in hierarchy.SCHEMES:
        raise ValueError(f"there are {', '.join(hierarchy.SCHEMES)}, or levels with what each reads")
    return hierarchy.SCHEMES[levels]


SchemeLevels = Annotated[dict[str, tuple[str, ...]], BeforeValidator(_scheme), AfterValidator(hierarchy.checked)]
"""Levels and the levels whose features each reads, or the name of a scheme such as PRI(list)."""

Model = TypeVar("Model", bound=Settings)
Training = TypeVar("Training", bound=TrainingSettings)


class Recipe(Settings, Generic[Model, Training]):
    """One training run of a ranker."""

    kind: Literal["train"] = "train"
    output: Text
    """The folder of the run: checkpoints while it trains, the trained ranker when it is done."""
    model: Model
    train: DataSettings
    dev: DataSettings
    """The data that chooses the best checkpoint, and when to stop."""
    watch: DataSettings | None = None
    """Another set to measure at each evaluation, for the record only."""
    training: Training

    @model_validator(mode="before")
    @classmethod
    def _training_has_defaults(cls, content: Any) -> Any:
        return {"training": {}, **content} if isinstance(content, dict) else content

    @model_validator(mode="after")
    def _questions_are_whole_where_candidates_are_compared(self) -> Recipe[Model, Training]:
        objective = getattr(self.training, "objective", None)
        levels = getattr(self.model, "levels", None) or (objective.named if objective else {})
        learned = {hierarchy.objective_of(level) for level in levels}
        by = self.training.batch.by
        if learned & {"pair", "list"} and by != "questions":
            raise ValueError(
                f"training.batch.by is '{by}': pair and list compare a question's candidates, so it must be 'questions'"
            )
        return self
