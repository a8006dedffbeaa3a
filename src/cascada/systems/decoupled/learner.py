"""Training a decoupled ranker: both encoders and what is above the join, or only the latter above a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from cascada.core.errors import CascadaError
from cascada.core.folder import is_exported, named_folder
from cascada.data import Group
from cascada.data.sample import evenly_spaced
from cascada.encoders.encoder import set_encoder_dropout
from cascada.encoders.files import tokenizer_folder
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import NO_DEADLINE
from cascada.systems.decoupled.documents import DocumentEncoder, EncodingMemory, encode_side
from cascada.systems.decoupled.engine_torch import TorchEngine, tokenizer_of
from cascada.systems.decoupled.examples import SideExamples
from cascada.systems.decoupled.folder import (
    begin,
    depth_of,
    fingerprint,
    is_decoupled,
    keeps_interaction,
    keeps_projection,
    save,
)
from cascada.systems.decoupled.meeting import JoinExit
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.settings import DecoupledModel, DecoupledTraining
from cascada.systems.decoupled.shape import DecoupledShape, ExportedDecoupled, read_exported
from cascada.systems.decoupled.stages import stages_of
from cascada.systems.decoupled.towers import encode
from cascada.text.sides import SideTokenizer
from cascada.training.batches import BatchPlan
from cascada.training.exit_learner import ExitLearner
from cascada.training.precision import products_in
from cascada.training.ranker_trainer import RankerTrainer, build_ranker_trainer, ranker_card
from cascada.training.run_folder import first_process
from cascada.training.settings import Recipe

if TYPE_CHECKING:
    from cascada.store import Store

COMPARING_RATE = 100
"""The scale and shift of an exit that compares the two sides, two single weights, are trained at this multiple of the
learning rate."""
COMPARING = ("cosine.", "below.")
"""Prefixes of their names."""
ABOVE_THE_JOIN = ("meet.", "interaction.", "classifiers.")
"""Prefixes of the names of the weights above the join."""

STATE_QUESTIONS, STATE_TEXTS = 64, 4
"""Training questions, and texts of each, from whose states a layer that starts by matching and a projection are
initialised."""

card = ranker_card


def trainer(recipe: Recipe[DecoupledModel, DecoupledTraining], folder: Path) -> RankerTrainer:
    """Read the data and build the ranker, ready to train."""
    return build_ranker_trainer(recipe, folder, lambda recipe, groups, measured: DecoupledLearner.of(recipe, groups))


class DecoupledLearner(ExitLearner):
    """A decoupled ranker, its tokenizer and its training examples."""

    model: DecoupledRanker

    def __init__(
        self,
        model: DecoupledRanker,
        tokenizer: SideTokenizer,
        files: Path,
        examples: SideExamples,
        settings: DecoupledTraining,
    ) -> None:
        """`files`: the folder of the tokenizer's files, which are copied into the trained ranker's."""
        super().__init__(model, model.shape.layer_exits, examples, settings)
        self.tokenizer = tokenizer
        self.files = files
        self.store = examples.store
        if self.store is not None:
            freeze_documents(model)  # `encoder_dropout` has set the dropout of all towers
        names = [name for name, _ in model.named_parameters()]
        if settings.joint_rate:
            above = (name for name in names if name.startswith(ABOVE_THE_JOIN))
            self.learning_rates = dict.fromkeys(above, settings.joint_rate)
        comparing = (name for name in names if name.startswith(COMPARING))
        self.learning_rates |= dict.fromkeys(comparing, min(COMPARING_RATE * settings.learning_rate, 0.01))

    @classmethod
    def of(cls, recipe: Recipe[DecoupledModel, DecoupledTraining], groups: Sequence[Group]) -> DecoupledLearner:
        """A new ranker on the recipe's encoder, with the groups as training examples."""
        settings, training = recipe.model, recipe.training
        shape = shape_of(settings)
        if training.store and shape.tower_exits:
            raise CascadaError(
                "training.store has documents' encodings at the join only: leave out the exits below it, "
                f"{', '.join(map(str, shape.tower_exits))}."
            )
        model = begin(settings.encoder, shape)
        files = tokenizer_folder(str(named_folder(settings.encoder)))
        tokenizer = tokenizer_of(model, files)
        if settings.keep and not keeps_projection(settings.encoder):
            start_projection(model, tokenizer, groups)
        if settings.start == "matching":
            start_by_matching(model, tokenizer, groups, settings.encoder)
        if model.exit_zero and starting_export(settings.encoder) is None:  # an export keeps the IDF of its many texts
            model.exit_zero.set_idf(tokenizer.document, dict.fromkeys(text for group in groups for text in group.texts))
        examples = replace(
            SideExamples.of(groups, tokenizer),
            texts=tuple(text for group in groups for text in group.texts),
            others=training.batch.others,
        )
        if training.store:
            freeze_documents(model)
            encoder = DocumentEncoder(TorchEngine(model.eval(), tokenizer, fingerprint(model, files)))
            used = np.flatnonzero(BatchPlan(examples, training).used)
            texts = [examples.texts[row] for row in used]
            with products_in(training.precision):
                examples = replace(examples, store=filled_store(training.store, encoder, texts))
        if model.comparing and not is_decoupled(named_folder(settings.encoder)):
            with products_in(training.precision):
                start_comparing(model, examples)
        return cls(model, tokenizer, files, examples, training)

    def ranker(self) -> Ranker:
        """The ranker in its present state; a document that several questions share is encoded once if memory allows."""
        memory = None if self.model.shape.tower_exits else EncodingMemory()  # encodings are those at the join
        return Ranker(stages_of(TorchEngine(self.model, self.tokenizer), self.store or memory, add=True))

    def save(self, folder: Path, card: str) -> None:
        save(self.model, folder, tokenizer=self.files, card=card)


def start_by_matching(model: DecoupledRanker, tokenizer: SideTokenizer, groups: Sequence[Group], encoder: str) -> None:
    """Make the first interaction layer match tokens, given the states of some training texts at the join."""
    if not model.shape.joint_exits:
        raise CascadaError("model.start is matching, but model.exits has no layer above the join that could start so.")
    if keeps_interaction(encoder, model.shape):
        raise CascadaError(
            f"model.start is matching, but {encoder} has trained layers above the join, which would be lost: leave it "
            "out to continue from them."
        )
    engine = TorchEngine(model.eval(), tokenizer)
    questions = tokenizer.question.encode_alone([group.question for group in evenly_spaced(groups, STATE_QUESTIONS)])
    texts = tokenizer.document.encode_alone(some_texts(groups))
    place, asked = engine.join_weights, encode_side(engine, questions, NO_DEADLINE, document=False)
    read = encode_side(engine, texts, NO_DEADLINE, document=True)
    sides = [place.place_question(states) for states in asked], [place.place_document(states) for states in read]
    examples = (torch.from_numpy(np.concatenate(side)) for side in sides)
    mark = model.interaction.start_by_matching(*examples)  # type: ignore[operator]
    with torch.no_grad():
        model.meet.types.add_(torch.stack((-mark, mark)))


@torch.no_grad()
def start_comparing(model: DecoupledRanker, examples: SideExamples) -> None:
    """Initialise the scale and shift of each exit that compares the two sides, from similarities in training lists."""
    model.eval()
    comparing = model.comparing
    similarities: dict[JoinExit, list[torch.Tensor]] = {head: [] for head in comparing.values()}

    def seen(head: JoinExit, inputs: tuple[torch.Tensor], _: object) -> None:
        similarities[head].append(inputs[0])

    hooks = [head.register_forward_hook(seen) for head in similarities]
    own_only = replace(examples, others=0, teacher_scores=None)
    for number in evenly_spaced(range(int(examples.owner.max()) + 1), STATE_QUESTIONS):
        batch = own_only.collate(np.flatnonzero(examples.owner == number).tolist())
        del batch["labels"], batch["owner"]
        model(**batch, exits=list(comparing))
    for hook in hooks:
        hook.remove()
    for head, lists in similarities.items():
        head.start(lists)


def start_projection(model: DecoupledRanker, tokenizer: SideTokenizer, groups: Sequence[Group]) -> None:
    """Initialise the projection to fewer dimensions from the states of some training documents."""
    tokens = tokenizer.document.encode_alone(some_texts(groups))
    ids, mask, _ = tokens.padded(np.arange(len(tokens)), tokenizer.pad_id)
    with torch.no_grad():
        states = encode(model.document.eval(), torch.from_numpy(ids), torch.from_numpy(mask))
    model.start_projection(states[torch.from_numpy(mask)])


def some_texts(groups: Sequence[Group]) -> list[str]:
    """The training texts from whose states weights are initialised."""
    return [text for group in evenly_spaced(groups, STATE_QUESTIONS) for text in group.texts[:STATE_TEXTS]]


def freeze_documents(model: DecoupledRanker) -> None:
    """Freeze what encodes documents, and turn off its dropout, which a shared tower would apply to questions."""
    model.document.requires_grad_(False)
    set_encoder_dropout(model.document, 0.0)
    if model.shape.keep:
        model.down.requires_grad_(False)


def filled_store(folder: str, encoder: DocumentEncoder, texts: Sequence[str]) -> Store:
    """The store with encodings of all of the texts; created if it does not exist."""
    from cascada.store import fill, store_for

    store = store_for(encoder, Path(folder))
    if first_process():
        fill(store, encoder, texts)
    elif missing := store.missing(texts):
        raise CascadaError(
            f"{folder} lacks {len(missing):,} documents: start training with one process first, which adds them."
        )
    return store


def shape_of(settings: DecoupledModel) -> DecoupledShape:
    """The shape that a recipe describes; without a join, DC-BERT's with one interaction layer.

    A recipe that starts from an export has the export's shape where it gives no setting.
    """
    exported = starting_export(settings.encoder)
    if exported is not None:
        own = {field.name: getattr(exported, field.name) for field in fields(DecoupledShape)} | {"towers": "shared"}
        given = settings.model_dump(include=settings.model_fields_set & own.keys())
        return DecoupledShape(**own | given)
    depth = depth_of(settings.encoder)
    join = settings.join or depth
    exits = settings.exits or (depth if join < depth and settings.interaction == "layers" else join + 1,)
    return DecoupledShape(
        **settings.model_dump(exclude={"kind", "encoder", "join", "exits", "start"}), join=join, exits=exits
    )


def starting_export(encoder: str) -> ExportedDecoupled | None:
    """The shape of the exported ranker that training starts from, such as the bundled one; None if it is no export."""
    folder = named_folder(encoder)
    return read_exported(folder) if is_decoupled(folder) and is_exported(folder) else None
