"""What a recipe of kind `reader` may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.training.settings import Count, Settings, Share, Text, TrainingSettings


class ReaderModelSettings(Settings):
    encoder: Text
    """A folder in the hub's layout, a hub name, or the folder of a trained ranker to start from."""
    layers: Count | None = None
    """Cut to the first n layers; all of them if not given."""
    dropout: Share = 0.1
    max_length: Annotated[int, Field(ge=16, le=8192)] = 256
    """Tokens of question and text together. A longer text is read in windows."""
    overlap: Annotated[int, Field(ge=0)] = 64
    """Tokens that a window shares with the one before."""


class SpanSettings(Settings):
    source: Text
    """A file in SQuAD's JSON layout."""
    groups: str | None = None
    """For training: groups of paragraphs for the same questions, by id. The wrong ones show what has no answer;
    `training.negatives` says how many of them a question gets in each epoch."""
    wrong: Count = 10
    """Of a group, only the first so many wrong ones: what a search engine finds first is what a reader is given."""
    questions: Count | None = None
    """Only the first so many questions."""


class ReaderRecipe(Settings):
    """A reader: it learns where answers stand in texts."""

    kind: Literal["reader"]
    output: Text
    """The folder of the run: checkpoints while it trains, the trained reader when it is done."""
    model: ReaderModelSettings
    train: SpanSettings
    dev: SpanSettings
    """What chooses the best checkpoint, by F1 over questions asked of their own paragraph."""
    training: TrainingSettings = TrainingSettings()

    @model_validator(mode="after")
    def _groups_are_for_training(self) -> ReaderRecipe:
        if self.dev.groups is not None:
            raise ValueError("dev.groups: groups are for training")
        return self
