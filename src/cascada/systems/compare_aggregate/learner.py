"""Training a compare-aggregate network: every update trains all of its levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from cascada.data import Group
from cascada.objectives.level_heads import logits_of
from cascada.ranking.ranker import Ranker
from cascada.systems.compare_aggregate.engine_torch import ranker_of
from cascada.systems.compare_aggregate.examples import WordExamples
from cascada.systems.compare_aggregate.folder import at_level, begin, save
from cascada.systems.compare_aggregate.network import CompareAggregateRanker
from cascada.systems.compare_aggregate.settings import CompareAggregateModel, CompareAggregateTraining
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.text.vocabulary import Vocabulary, WordPairTokenizer
from cascada.training.examples import Examples
from cascada.training.groups import loaded_groups
from cascada.training.objective import Objective, level_weights, positive_weight
from cascada.training.ranker_trainer import RankerTrainer, build_ranker_trainer, ranker_card
from cascada.training.settings import Recipe
from cascada.training.teacher import add_teacher_loss

__all__ = ["CompareAggregateLearner", "at_level", "card", "trainer"]

card = ranker_card


def trainer(recipe: Recipe[CompareAggregateModel, CompareAggregateTraining], folder: Path) -> RankerTrainer:
    """Read the data and build the ranker, ready to train."""
    return build_ranker_trainer(recipe, folder, CompareAggregateLearner.of)


class CompareAggregateLearner:
    """A compare-aggregate network, its vocabulary and its training examples."""

    has_unused_weights = False

    def __init__(
        self,
        model: CompareAggregateRanker,
        words: WordPairTokenizer,
        examples: WordExamples,
        settings: CompareAggregateTraining,
        learning_rates: Mapping[str, float],
    ) -> None:
        self.model = model
        self.words = words
        self.examples: Examples = examples
        self.learning_rates = learning_rates
        self.settings = settings
        weights = level_weights(settings.objective, model.shape.levels)
        self.objective = Objective(settings.objective, weights, positive_weight=positive_weight(settings, examples))

    @classmethod
    def of(
        cls,
        recipe: Recipe[CompareAggregateModel, CompareAggregateTraining],
        groups: Sequence[Group],
        measured: Sequence[Group],
    ) -> CompareAggregateLearner:
        """A new network with the groups as training examples; its vocabulary covers the measured groups, too."""
        settings, training = recipe.model, recipe.training
        others = [group for data in settings.vocabulary for group in loaded_groups(data)]
        vocabulary = Vocabulary.of(_texts([*groups, *measured, *others]))
        rate = settings.vectors.learning_rate if settings.vectors else None
        source = settings.vectors.source if settings.vectors else None
        model = begin(shape_of(settings), vocabulary, vectors=source, tuned=rate is not None)
        rates = {} if rate is None else {"embedding.weight": rate}
        words = WordPairTokenizer(vocabulary, max_words=settings.max_words)
        return cls(model, words, WordExamples.of(groups, words), training, rates)

    def begin(self, updates: int) -> None:
        """Nothing depends on the number of updates."""

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        outputs = model(inputs["question"], inputs["text"])
        labels, owner, scores = inputs["labels"], inputs["owner"], inputs.get("teacher_scores")
        loss, parts = self.objective(outputs, labels, owner)
        logits = logits_of(outputs[str(self.model.shape.main)])
        return add_teacher_loss(loss, logits, scores, self.settings.teacher, labels=labels, owner=owner), parts

    def ranker(self) -> Ranker:
        return ranker_of(self.model, self.words)

    def save(self, folder: Path, card: str) -> None:
        save(self.model, folder, vocabulary=self.words.vocabulary, card=card)


def shape_of(settings: CompareAggregateModel) -> CompareAggregateShape:
    """The shape that a recipe describes."""
    return CompareAggregateShape(**settings.model_dump(exclude={"kind", "vectors", "vocabulary"}))


def _texts(groups: Sequence[Group]) -> Iterator[str]:
    for group in groups:
        yield group.question
        yield from group.texts
