"""How a decoupled ranker learns: both sides, from pairs of question and document; see `ExitLearner`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from cascada.core.errors import CascadaError
from cascada.data import Group
from cascada.encoders.files import tokenizer_folder
from cascada.ranking.ranker import Ranker
from cascada.systems.decoupled.documents import DocumentEncoder, EncodingMemory
from cascada.systems.decoupled.engine_torch import TorchParts, tokenizer_of
from cascada.systems.decoupled.examples import SideExamples
from cascada.systems.decoupled.folder import begin, depth_of, fingerprint, save
from cascada.systems.decoupled.network import LOG_SCALE, SHIFT, DecoupledRanker
from cascada.systems.decoupled.settings import DecoupledModel, DecoupledTraining
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.decoupled.stages import stages_of
from cascada.text.sides import SideTokenizer
from cascada.training.batches import BatchPlan
from cascada.training.exits import ExitLearner
from cascada.training.ranker_run import ranker_card, ranker_trainer
from cascada.training.run_folder import first_process
from cascada.training.settings import Recipe
from cascada.training.trainer import RankerTrainer

if TYPE_CHECKING:
    from cascada.store import Store
FASTER = 100
"""Times the learning rate that the cosine's scale and shift have: single numbers that have far to go."""


ABOVE_THE_JOIN = ("meet.", "interaction.", "classifiers.")
"""How the names of weights begin that both sides go through together."""


card = ranker_card


def trainer(recipe: Recipe[DecoupledModel, DecoupledTraining], folder: Path) -> RankerTrainer:
    """Everything read and built, ready to train."""
    return ranker_trainer(recipe, folder, lambda recipe, groups, measured: DecoupledLearner.of(recipe, groups))


class DecoupledLearner(ExitLearner):
    """A decoupled ranker and its tokenizer."""

    model: DecoupledRanker

    def __init__(
        self,
        model: DecoupledRanker,
        tokenizer: SideTokenizer,
        files: Path,
        examples: SideExamples,
        settings: DecoupledTraining,
    ) -> None:
        """`files` is the folder with the tokenizer's files."""
        super().__init__(model, model.shape.exits, examples, settings)
        self.tokenizer = tokenizer
        self.files = files
        self.store = examples.store
        if settings.joint_rate:
            joint = (name for name, _ in model.named_parameters() if name.startswith(ABOVE_THE_JOIN))
            self.rates = dict.fromkeys(joint, settings.joint_rate)
        if model.shape.cosine:
            self.rates |= dict.fromkeys((LOG_SCALE, SHIFT), min(FASTER * settings.learning_rate, 0.01))

    @classmethod
    def of(cls, recipe: Recipe[DecoupledModel, DecoupledTraining], groups: Sequence[Group]) -> DecoupledLearner:
        """A new ranker on the recipe's encoder, to be trained on the groups."""
        settings, training = recipe.model, recipe.training
        model = begin(settings.encoder, shape_of(settings))
        files = tokenizer_folder(settings.encoder)
        tokenizer = tokenizer_of(model, files)
        examples = replace(
            SideExamples.of(groups, tokenizer),
            texts=tuple(text for group in groups for text in group.texts),
            others=training.batch.others,
        )
        if training.store:
            leave_documents(model)
            encoder = DocumentEncoder(TorchParts(model.eval(), tokenizer, fingerprint(model, files)))
            used = np.flatnonzero(BatchPlan(examples, training).used)
            examples = replace(examples, store=filled(training.store, encoder, [examples.texts[row] for row in used]))
        return cls(model, tokenizer, files, examples, training)

    def ranker(self) -> Ranker:
        """Documents that several questions have in common are encoded once, as far as there is room for them."""
        kept = EncodingMemory() if self.store is None else self.store
        return Ranker(stages_of(TorchParts(self.model, self.tokenizer), kept, add=True))

    def save(self, folder: Path, card: str) -> None:
        save(self.model, folder, tokenizer=self.files, card=card)


def leave_documents(model: DecoupledRanker) -> None:
    """What makes documents' encodings stays as it is; a tower that questions share drops nothing out, either."""
    model.document.requires_grad_(False)
    for part in model.document.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    if model.shape.keep:
        model.down.requires_grad_(False)


def filled(folder: str, encoder: DocumentEncoder, texts: Sequence[str]) -> Store:
    """The store with all of the texts in it, made if it is not there."""
    from cascada.store import fill, store_for

    store = store_for(encoder, Path(folder))
    if first_process():
        fill(store, encoder, texts)
    elif missing := store.missing(texts):
        raise CascadaError(f"{folder} lacks {len(missing):,} documents: let one process train first, which adds them.")
    return store


def shape_of(settings: DecoupledModel) -> DecoupledShape:
    """The recipe's shape; where it names no join, DC-BERT's with one interaction layer."""
    depth = depth_of(settings.encoder)
    join = settings.join or depth
    exits = settings.exits or (depth if join < depth and settings.interaction == "layers" else join + 1,)
    return DecoupledShape(**settings.model_dump(exclude={"kind", "encoder", "join", "exits"}), join=join, exits=exits)
