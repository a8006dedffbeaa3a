"""A compare-aggregate ranker on disk: `cascada.json`, `model.safetensors`, `words.txt` and the model card."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from cascada.core.folder import COMPARE_AGGREGATE, own_card, parsed, refuse_a_ranker, require_trained, saving
from cascada.encoders.files import read_weights, write_weights
from cascada.systems.compare_aggregate.network import CompareAggregate
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.text.vocabulary import WORDS_FILE, Vocabulary


def save(model: CompareAggregate, vocabulary: Vocabulary, folder: Path, *, card: str) -> None:
    about = {"kind": COMPARE_AGGREGATE, "exits": [0], **dataclasses.asdict(model.shape)}
    with saving(folder, about, card=card) as made:
        write_weights(model, made)
        vocabulary.save(made / WORDS_FILE)


def load(folder: Path) -> tuple[CompareAggregate, Vocabulary]:
    """What `save` wrote, ready to score."""
    require_trained(folder, COMPARE_AGGREGATE, "a compare-aggregate ranker")
    shape = parsed(folder, CompareAggregateShape, ignore=("exits",))
    vocabulary = Vocabulary.load(folder / WORDS_FILE)
    model = CompareAggregate(shape, len(vocabulary))
    read_weights(model, folder)
    return model.eval(), vocabulary


def at_level(folder: Path, level: str, output: Path) -> None:
    """Write a trained ranker with another of its levels as the one that ranks: the readings of one MTL model."""
    refuse_a_ranker(output)
    model, vocabulary = load(folder)
    model.shape = dataclasses.replace(model.shape, main=level)
    note = f"# A Cascada ranker\n\nThe {level} level of {folder.name}; its card follows.\n\n"
    save(model, vocabulary, output, card=note + own_card(folder))
