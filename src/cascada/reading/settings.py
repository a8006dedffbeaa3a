"""Settings in a recipe of kind `reader`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.training.settings import Count, EncoderTraining, Seed, Settings, Share, Text


class ReaderModel(Settings):
    """A span reader; see docs/reader.md."""

    encoder: Text
    """A folder in the hub's layout, a hub name, or the folder of a trained ranker to continue from."""
    layers: Count | None = None
    """Keep the first n layers; all of them if not given."""
    dropout: Share = 0.1
    max_length: Annotated[int, Field(ge=16, le=8192)] = 256
    """Tokens of question and text together; a longer text is read in windows."""
    overlap: Annotated[int, Field(ge=0)] = 64
    """Tokens that a window shares with the previous one."""


class SpanSettings(Settings):
    """Where questions with marked answers come from."""

    source: Text
    """A file in SQuAD's JSON layout."""
    groups: str | None = None
    """For training: a file of groups of paragraphs for the same questions, by id. Their incorrect paragraphs are
    examples without an answer; `training.negatives` says how many of them an epoch has per question."""
    wrong: Count = 10
    """For training: use the first n incorrect paragraphs of a group. A reader is given what a search engine finds
    first, so these are the ones to learn from."""
    questions: Count | None = None
    """Use a sample of n questions, drawn from the whole file by `sample_seed`."""
    sample_seed: Seed = 0


class ReaderRecipe(Settings):
    """One training run of a span reader."""

    kind: Literal["reader"]
    output: Text
    """The run's folder: it holds checkpoints during training and the trained reader at the end."""
    model: ReaderModel
    train: SpanSettings
    dev: SpanSettings
    """The questions that select the best checkpoint, by F1 of the answers found in their own paragraphs."""
    training: EncoderTraining = EncoderTraining()

    @model_validator(mode="after")
    def _incorrect_paragraphs_are_for_training(self) -> ReaderRecipe:
        for key in ("groups", "wrong"):
            if getattr(self.dev, key) != SpanSettings.model_fields[key].default:
                raise ValueError(f"dev.{key}: {key} is for training")
        return self


Model, Training = ReaderModel, EncoderTraining
