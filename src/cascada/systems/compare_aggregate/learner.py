"""How a compare-aggregate network learns: at all of its levels in each update, from whole questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cascada.data import Group
from cascada.objectives.level_heads import logits_of
from cascada.ranking.ranker import Ranker
from cascada.systems.compare_aggregate.engine_torch import compare_aggregate_ranker
from cascada.systems.compare_aggregate.folder import at_level, save
from cascada.systems.compare_aggregate.network import CompareAggregate
from cascada.systems.compare_aggregate.settings import CompareAggregateModel
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.text.vectors import vectors_for
from cascada.text.vocabulary import UNKNOWN, Vocabulary, WordPairs
from cascada.training.examples import Examples, WordExamples, loaded_groups
from cascada.training.exits import positive_weight
from cascada.training.objective import Objective, weights_of
from cascada.training.ranker_run import ranker_card, ranker_trainer
from cascada.training.settings import RankerTraining, Recipe
from cascada.training.teacher import mixed
from cascada.training.trainer import RankerTrainer

__all__ = ["CompareAggregateLearner", "at_level", "card", "trainer"]

card = ranker_card


def trainer(recipe: Recipe[CompareAggregateModel, RankerTraining], folder: Path) -> RankerTrainer:
    """Everything read and built, ready to train."""
    return ranker_trainer(recipe, folder, CompareAggregateLearner.of)


class CompareAggregateLearner:
    """A compare-aggregate network and its vocabulary."""

    some_unused = False

    def __init__(
        self,
        model: CompareAggregate,
        words: WordPairs,
        examples: WordExamples,
        settings: RankerTraining,
        rates: Mapping[str, float],
    ) -> None:
        self.model = model
        self.words = words
        self.examples: Examples = examples
        self.rates = rates
        self.settings = settings
        weights = weights_of(settings.objective, model.shape.levels)
        self.objective = Objective(settings.objective, weights, positive_weight=positive_weight(settings, examples))

    @classmethod
    def of(
        cls,
        recipe: Recipe[CompareAggregateModel, RankerTraining],
        groups: Sequence[Group],
        measured: Sequence[Group],
    ) -> CompareAggregateLearner:
        """A new network to be trained on the groups, which knows the words of both."""
        settings, training = recipe.model, recipe.training
        others = [group for data in settings.vocabulary for group in loaded_groups(data)]
        vocabulary = Vocabulary.of(_texts([*groups, *measured, *others]))
        model, rates = build(settings, vocabulary)
        words = WordPairs(vocabulary, max_words=settings.max_words)
        return cls(model, words, WordExamples.of(groups, words), training, rates)

    def start(self, updates: int) -> None:
        """Every update is like the others."""

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        outputs = model(inputs["question"], inputs["text"])
        loss, parts = self.objective(outputs, inputs["labels"], inputs["owner"])
        logits = logits_of(outputs[str(self.model.shape.main)])
        return mixed(loss, logits, inputs.get("taught"), self.settings.teacher), parts

    def ranker(self) -> Ranker:
        return compare_aggregate_ranker(self.model, self.words)

    def save(self, folder: Path, card: str) -> None:
        save(self.model, self.words.vocabulary, folder, card=card)


def build(settings: CompareAggregateModel, vocabulary: Vocabulary) -> tuple[CompareAggregate, dict[str, float]]:
    """The network with its word vectors, and their learning rate if they have one of their own."""
    vectors = None if settings.vectors is None else start_of(vocabulary, settings.vectors.source)
    sizes = settings.model_dump(exclude={"kind", "vectors", "vocabulary", "embedding"})
    embedding = settings.embedding if vectors is None else vectors.shape[1]
    model = CompareAggregate(CompareAggregateShape(embedding=embedding, **sizes), len(vocabulary))
    rate = settings.vectors.learning_rate if settings.vectors else None
    if vectors is not None:
        model.set_vectors(vectors, tuned=rate is not None)
    return model, {} if rate is None else {"embedding.weight": rate}


def start_of(vocabulary: Vocabulary, source: str) -> Tensor:
    """(ids, size): pre-trained vectors, zeros for padding and for words that have none."""
    table, _ = vectors_for(vocabulary.words, source)
    return torch.cat([torch.zeros(UNKNOWN + 1, table.shape[1]), torch.from_numpy(table)])


def _texts(groups: Sequence[Group]) -> Iterator[str]:
    for group in groups:
        yield group.question
        yield from group.texts
