"""The folder of a compare-aggregate ranker: `cascada.json`, `model.safetensors`, `words.txt` and the model card."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch
from torch import Tensor

from cascada.core.folder import parse_shape, read_card, require_no_ranker, require_trained, saving
from cascada.encoders.files import read_weights, write_weights
from cascada.systems.compare_aggregate.network import CompareAggregateRanker
from cascada.systems.compare_aggregate.shape import KIND, CompareAggregateShape
from cascada.text.vectors import vectors_for
from cascada.text.vocabulary import UNKNOWN, WORDS_FILE, Vocabulary


def save(model: CompareAggregateRanker, folder: Path, *, vocabulary: Vocabulary, card: str) -> None:
    """Write the ranker into `folder`; until its last file is in place, the folder is no ranker."""
    with saving(folder, model.shape.to_dict(), card=card) as temporary:
        write_weights(model, temporary)
        vocabulary.save(temporary / WORDS_FILE)


def load(folder: Path) -> tuple[CompareAggregateRanker, Vocabulary]:
    """Load the ranker that `save` wrote, in evaluation mode, and its vocabulary."""
    require_trained(folder, KIND, "a compare-aggregate ranker")
    shape = parse_shape(folder, CompareAggregateShape, ignore=("exits",))
    vocabulary = Vocabulary.load(folder / WORDS_FILE)
    model = CompareAggregateRanker(shape, len(vocabulary))
    read_weights(model, folder)
    return model.eval(), vocabulary


def begin(
    shape: CompareAggregateShape, vocabulary: Vocabulary, *, vectors: str | None = None, tuned: bool = False
) -> CompareAggregateRanker:
    """Make a ranker to train.

    `vectors` is the file of pre-trained word vectors, whose size replaces `shape.embedding`; they are frozen unless
    `tuned`. Without them, word vectors are initialised at random and trained.
    """
    if vectors is None:
        return CompareAggregateRanker(shape, len(vocabulary))
    table = initial_vectors(vocabulary, vectors)
    model = CompareAggregateRanker(dataclasses.replace(shape, embedding=table.shape[1]), len(vocabulary))
    model.set_vectors(table, tuned=tuned)
    return model


def initial_vectors(vocabulary: Vocabulary, source: str) -> Tensor:
    """Pre-trained vectors (ids, size); zeros for padding and for words without a vector."""
    table, _ = vectors_for(vocabulary.words, source)
    return torch.cat([torch.zeros(UNKNOWN + 1, table.shape[1]), torch.from_numpy(table)])


def at_level(folder: Path, level: str, output: Path) -> None:
    """Write a trained ranker to `output` with another of its levels as the one that ranks."""
    require_no_ranker(output)
    model, vocabulary = load(folder)
    model.shape = dataclasses.replace(model.shape, main=level)
    note = f"# A Cascada ranker\n\nThe {level} level of {folder.name}; its card follows.\n\n"
    save(model, output, vocabulary=vocabulary, card=note + read_card(folder))
