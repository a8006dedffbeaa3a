"""What a recipe of a decoupled ranker may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.training.settings import BatchSettings, Count, ExitTraining, Positive, Settings, Share, Text


class DecoupledModel(Settings):
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


class DecoupledBatch(BatchSettings):
    """What is trained on together."""

    others: Annotated[int, Field(ge=0)] = 0
    """By questions: with how many documents of the batch's other questions each question is compared too, as wrong
    ones. A document is encoded once, however many questions it is compared with."""


class DecoupledTraining(ExitTraining):
    """How a decoupled ranker is trained."""

    batch: DecoupledBatch = DecoupledBatch()
    joint_rate: Positive | None = None
    """The learning rate of what is above the join, where parts start from scratch; `learning_rate`, which the towers
    keep, if not given."""
    store: Text | None = None
    """A store, made if it does not exist, that documents' encodings are read from. The document side then is not
    trained, and the trained ranker reads the same store."""

    @model_validator(mode="after")
    def _others_are_of_questions(self) -> DecoupledTraining:
        if self.batch.others and self.batch.by != "questions":
            raise ValueError("batch.others compares questions of a batch, so batch.by must be 'questions'")
        if self.batch.others and self.teacher:
            raise ValueError("a teacher scores each question's own candidates: batch.others has others")
        return self


Model, Training = DecoupledModel, DecoupledTraining


def origin(model: DecoupledModel) -> str:
    """What the weights started from, for the model card."""
    return f"`{model.encoder}`"
