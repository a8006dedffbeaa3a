"""Settings in the recipe of a decoupled ranker."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.systems.decoupled.shape import DecoupledShape, Interaction, Match, Scores, Towers
from cascada.training.settings import BatchSettings, Count, ExitTraining, Layer, Positive, Settings, Share, Text


class DecoupledModel(Settings):
    """A ranker that encodes question and document separately; see docs/decoupled.md."""

    kind: Literal["decoupled"]
    encoder: Text
    """A folder in the hub's layout, a hub name, the folder of a trained ranker to continue from, or `cascada-mini`, the
    bundled model: what the recipe leaves open is then as in the bundled model."""
    join: Count | None = None
    """The number of layers that each side runs separately; all of the encoder's if not given, as in DC-BERT."""
    exits: Annotated[tuple[Layer, ...], Field(min_length=1)] | None = None
    """Layers after which candidates may be dropped; layers above the join continue its numbering. An exit at the join
    compares the two sides (see `match`), and exit 0, before the first layer, their embeddings. If not given: the
    encoder's last layer, or one layer above the join if the join is the last."""
    towers: Towers = DecoupledShape.towers
    interaction: Interaction = DecoupledShape.interaction
    keep: Count | None = None
    """The number of dimensions in which documents are cached; all of them if not given."""
    question_length: Annotated[int, Field(ge=8)] = DecoupledShape.question_length
    """Questions are truncated to this many tokens."""
    max_length: Annotated[int, Field(ge=8, le=8192)] = DecoupledShape.max_length
    """Documents are truncated to this many tokens."""
    dropout: Share = DecoupledShape.dropout
    """Dropout of the classifiers; the encoder keeps its own."""
    start: Literal["copy", "matching"] = "copy"
    """How the layers above the join start: as a `copy` of the encoder's last layers, as in the paper; or, `matching`,
    with the attention of the first of them replaced, so that a token attends to similar ones."""
    scores: Scores = DecoupledShape.scores
    """`own`: each exit above the join predicts a score. `added`: it predicts a correction to the score at the join,
    initialised to zero."""
    match: Match = "late"
    """How an exit at the join compares the two sides: by `late` interaction of all tokens, by the `cosine` of their
    mean encodings, or by the weighted sum of `both`."""

    question_prompt: str = DecoupledShape.question_prompt
    """The prefix of every question that the encoder was trained with: `query: ` for E5."""
    document_prompt: str = DecoupledShape.document_prompt
    """The same for documents: `passage: ` for E5."""

    @model_validator(mode="after")
    def _layers_can_start_by_matching(self) -> DecoupledModel:
        if self.start == "matching" and self.interaction != "layers":
            raise ValueError(f"start is 'matching', which is for layers; interaction is '{self.interaction}'")
        return self


class DecoupledBatch(BatchSettings):
    """How pairs are put into batches, and which other pairs are formed within a batch."""

    others: Annotated[int, Field(ge=0)] = 0
    """With batches by questions: compare each question also with this many documents of the batch's other questions,
    as incorrect ones (in-batch negatives). A document is encoded once, however many questions it is compared with."""


class DecoupledTraining(ExitTraining):
    """Training settings of a decoupled ranker."""

    batch: DecoupledBatch = DecoupledBatch()
    joint_rate: Positive | None = None
    """The learning rate of the layers above the join, which may start from scratch; `learning_rate`, which the towers
    use, if not given."""
    store: Text | None = None
    """Read documents' encodings from this store, created if it does not exist. The document side is then frozen, and
    the trained ranker can use the same store."""

    @model_validator(mode="after")
    def _others_need_whole_questions(self) -> DecoupledTraining:
        if self.batch.others and self.batch.by != "questions":
            raise ValueError("batch.others compares questions of a batch, so batch.by must be 'questions'")
        if self.batch.others and self.teacher and self.teacher.level == "point":
            raise ValueError(
                "a teacher scores only a question's own candidates: batch.others needs teacher.level 'list'"
            )
        return self


Model, Training = DecoupledModel, DecoupledTraining


def origin(model: DecoupledModel) -> str:
    """What the initial weights are from, for the model card."""
    return f"`{model.encoder}`"
