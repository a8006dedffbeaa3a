"""How a decoupled ranker learns: both sides, from pairs of question and document; see `ExitLearner`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cascada.data import Group
from cascada.models.checkpoint import tokenizer_folder
from cascada.models.decoupled import DecoupledRanker, DecoupledShape
from cascada.models.decoupled.cosine import LOG_SCALE, SHIFT
from cascada.models.decoupled.folder import begin, depth_of, save
from cascada.ranking.decoupled import EncodingMemory, stages_of
from cascada.ranking.engines.decoupled import TorchParts, tokenizer_of
from cascada.ranking.ranker import Ranker
from cascada.text.sides import SideTokenizer, padded_sides
from cascada.training.examples import Examples
from cascada.training.exit_learner import ExitLearner
from cascada.training.settings import DecoupledSettings, TrainingSettings

FASTER = 100
"""Times the learning rate that the cosine's scale and shift have: single numbers that have far to go."""


class SideExamples(Examples):
    """Pairs as token ids, the sides apart; a question that several pairs of a batch share is in it once."""

    def inputs(self, rows: list[int]) -> dict[str, np.ndarray]:
        _, first, asked = np.unique(self.owner[rows], return_index=True, return_inverse=True)
        (question, question_mask), _ = padded_sides(self.encoded, np.asarray(rows)[first], self.pad_id)
        _, (text, text_mask) = padded_sides(self.encoded, rows, self.pad_id)
        return {
            "question": question,
            "question_mask": question_mask,
            "text": text,
            "text_mask": text_mask,
            "asked": asked,
        }


class DecoupledLearner(ExitLearner):
    """A decoupled ranker and its tokenizer."""

    model: DecoupledRanker

    def __init__(
        self,
        model: DecoupledRanker,
        tokenizer: SideTokenizer,
        files: Path,
        examples: SideExamples,
        settings: TrainingSettings,
    ) -> None:
        """`files` is the folder with the tokenizer's files."""
        super().__init__(model, model.shape.exits, examples, settings)
        self.tokenizer = tokenizer
        self.files = files
        if model.shape.cosine:
            self.rates = dict.fromkeys((LOG_SCALE, SHIFT), min(FASTER * settings.learning_rate, 0.01))

    @classmethod
    def of(cls, settings: DecoupledSettings, training: TrainingSettings, groups: Sequence[Group]) -> DecoupledLearner:
        """A new ranker on the recipe's encoder, to be trained on the groups."""
        model = begin(settings.encoder, shape_of(settings))
        files = tokenizer_folder(settings.encoder)
        tokenizer = tokenizer_of(model, files)
        return cls(model, tokenizer, files, SideExamples.of(groups, tokenizer), training)

    def ranker(self) -> Ranker:
        """Documents that several questions have in common are encoded once, as far as there is room for them."""
        return Ranker(stages_of(TorchParts(self.model, self.tokenizer), EncodingMemory(), add=True))

    def save(self, folder: Path, card: str) -> None:
        save(self.model, folder, tokenizer=self.files, card=card)


def shape_of(settings: DecoupledSettings) -> DecoupledShape:
    """The recipe's shape; where it names no join, DC-BERT's with one interaction layer."""
    depth = depth_of(settings.encoder)
    join = settings.join or depth
    exits = settings.exits or (depth if join < depth and settings.interaction == "layers" else join + 1,)
    return DecoupledShape(**settings.model_dump(exclude={"kind", "encoder", "join", "exits"}), join=join, exits=exits)
