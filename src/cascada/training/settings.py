"""What a recipe may say. Everything is checked before anything heavy happens."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from cascada.data import Mode

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
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


class ModelSettings(Settings):
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


class BatchSettings(Settings):
    by: Literal["tokens", "questions", "pairs"] = "tokens"
    """A budget of padded tokens with pairs of like length together; whole questions; or a fixed number of pairs."""
    size: Count = 2000
    accumulate: Count = 1
    """Batches whose gradients are averaged for each update."""


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
    """Stop after so many evaluations without a better dev MAP."""
    checkpoint_every: Count | None = None
    """Updates between checkpoints, beside the one at each evaluation."""
    exits: ExitTraining = ExitTraining()
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1

    @model_validator(mode="after")
    def _triangular_needs_a_ramp(self) -> TrainingSettings:
        if self.schedule == "triangular" and self.warmup == 0:
            raise ValueError("the triangular schedule needs a warmup above 0")
        return self


class Recipe(Settings):
    kind: Literal["train"] = "train"
    output: Text
    """The folder of the run: checkpoints while it trains, the trained ranker when it is done."""
    model: ModelSettings
    train: DataSettings
    dev: DataSettings
    """What chooses the best checkpoint, and when to stop."""
    watch: DataSettings | None = None
    """Another set to measure at each evaluation, for the record only."""
    training: TrainingSettings = TrainingSettings()
