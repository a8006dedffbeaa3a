"""What a recipe may say. Everything is checked before anything heavy happens."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.models import levels as hierarchy
from cascada.training.base_settings import Count, DataSettings, Positive, Settings, Text, Weight
from cascada.training.model_settings import AnyModel, DecoupledSettings


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
    joint_rate: Positive | None = None
    """For a decoupled ranker: the learning rate of what is above the join, where parts begin anew; `learning_rate`,
    which the towers keep, if not given."""
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
        training = self.training
        apart = training.store or training.batch.others or training.joint_rate
        if apart and not isinstance(self.model, DecoupledSettings):
            raise ValueError(
                "training.store, training.joint_rate and training.batch.others are for rankers of kind decoupled"
            )
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
