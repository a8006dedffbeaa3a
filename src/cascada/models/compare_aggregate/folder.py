"""A compare-aggregate ranker on disk: `cascada.json`, `model.safetensors`, `words.txt` and the model card."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from cascada.errors import CascadaError
from cascada.models.compare_aggregate.network import CompareAggregate
from cascada.models.compare_aggregate.shape import CompareAggregateShape
from cascada.models.folder import read_weights, saving, write_weights
from cascada.ranking.folder import COMPARE_AGGREGATE, SHAPE_FILE, own_card, read_shape, refuse_a_ranker
from cascada.text.vocabulary import WORDS_FILE, Vocabulary


def save(model: CompareAggregate, vocabulary: Vocabulary, folder: Path, *, card: str) -> None:
    about = {"kind": COMPARE_AGGREGATE, "exits": [0], **dataclasses.asdict(model.shape)}
    with saving(folder, about, card=card) as made:
        write_weights(model, made)
        vocabulary.save(made / WORDS_FILE)


def load(folder: Path) -> tuple[CompareAggregate, Vocabulary]:
    """What `save` wrote, ready to score."""
    about = {name: value for name, value in read_shape(folder).items() if name not in ("kind", "exits")}
    if "engine" in about:
        raise CascadaError(f"{folder} is an exported ranker, for ranking only; read the one it was made of.")
    try:
        shape = CompareAggregateShape(**about)
        vocabulary = Vocabulary.load(folder / WORDS_FILE)
        model = CompareAggregate(shape, len(vocabulary))
    except (TypeError, AttributeError) as error:
        raise CascadaError(f"{folder / SHAPE_FILE} is damaged: {error}.") from error
    read_weights(model, folder)
    return model.eval(), vocabulary


def at_level(folder: Path, level: str, output: Path) -> None:
    """Write a trained ranker with another of its levels as the one that ranks: the readings of one MTL model."""
    refuse_a_ranker(output)
    model, vocabulary = load(folder)
    model.shape = dataclasses.replace(model.shape, main=level)
    note = f"# A Cascada ranker\n\nThe {level} level of {folder.name}; its card follows.\n\n"
    save(model, vocabulary, output, card=note + own_card(folder))
