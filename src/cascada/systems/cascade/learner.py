"""Training a monolithic or cascade transformer. `training/exit_learner.py` chooses the exits that an update trains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from cascada.data import Group
from cascada.encoders.files import tokenizer_folder
from cascada.objectives.levels import main_level
from cascada.ranking.ranker import Ranker
from cascada.systems.cascade import folder as checkpoint
from cascada.systems.cascade.engine_torch import ranker_of
from cascada.systems.cascade.hierarchical_heads import HierarchicalHead, folded, with_levels
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.settings import CascadeModel
from cascada.text.pairs import PairTokenizer
from cascada.training.examples import Examples
from cascada.training.exit_learner import ExitLearner
from cascada.training.objective import level_weights
from cascada.training.ranker_trainer import RankerTrainer, build_ranker_trainer, ranker_card
from cascada.training.settings import ExitTraining, Recipe

card = ranker_card


def trainer(recipe: Recipe[CascadeModel, ExitTraining], folder: Path) -> RankerTrainer:
    """Read the data and build the ranker, ready to train."""
    return build_ranker_trainer(recipe, folder, lambda recipe, groups, measured: CascadeLearner.of(recipe, groups))


class CascadeLearner(ExitLearner):
    """A transformer ranker, its tokenizer and its training examples."""

    model: CascadeRanker

    def __init__(
        self, model: CascadeRanker, tokenizer: PairTokenizer, files: Path, examples: Examples, settings: ExitTraining
    ) -> None:
        """`files`: the folder of the tokenizer's files, which are copied into the trained ranker's."""
        super().__init__(model, model.shape.layer_exits, examples, settings)
        heads = list(model.heads.values())
        self.levels = heads[0].levels if isinstance(heads[0], HierarchicalHead) else None
        if self.levels:
            self.objective.weights = level_weights(settings.objective, self.levels)
        self.tokenizer = tokenizer
        self.files = files

    @classmethod
    def of(cls, recipe: Recipe[CascadeModel, ExitTraining], groups: Sequence[Group]) -> CascadeLearner:
        """A new ranker on the recipe's encoder, with the groups as training examples."""
        settings = recipe.model
        model = checkpoint.begin(**settings.model_dump(exclude={"kind", "levels", "main"}))
        if settings.levels:
            model = with_levels(model, settings.levels, main_level(settings.levels, settings.main))
        files = tokenizer_folder(settings.encoder)
        tokenizer = PairTokenizer.load(files, max_length=settings.max_length, pad_id=model.pad_id)
        if model.exit_zero:
            model.exit_zero.set_idf(tokenizer, dict.fromkeys(text for group in groups for text in group.texts))
        return cls(model, tokenizer, files, Examples.of(groups, tokenizer), recipe.training)

    def ranker(self) -> Ranker:
        return ranker_of(self.model, self.tokenizer)

    def save(self, folder: Path, card: str) -> None:
        """Write the ranker. Levels are for training only: a cascade with one head per exit is written."""
        model = folded(self.model) if self.levels else self.model
        checkpoint.save(model, folder, tokenizer=self.files, card=card)

    def by_level(self, exit: int, logits: Tensor) -> dict[str, Tensor]:
        head = self.model.heads[str(exit)]
        return head.by_level(logits) if isinstance(head, HierarchicalHead) else super().by_level(exit, logits)
