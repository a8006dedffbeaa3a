"""How a transformer learns: at some of its exits in each update, from the objectives named in the recipe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cascada.data import Group
from cascada.models import checkpoint
from cascada.models.staged import StagedRanker
from cascada.objectives import distill
from cascada.ranking.engines.pytorch import ranker_of
from cascada.ranking.ranker import Ranker
from cascada.text.pairs import PairTokenizer
from cascada.training.examples import Examples
from cascada.training.exits import exit_plan
from cascada.training.objective import Objective
from cascada.training.settings import ModelSettings, TrainingSettings


class TransformerLearner:
    """A staged ranker and its tokenizer."""

    def __init__(
        self, model: StagedRanker, tokenizer: PairTokenizer, files: Path, examples: Examples, settings: TrainingSettings
    ) -> None:
        """`files` is the folder with the tokenizer's files."""
        self.model = model
        self.tokenizer = tokenizer
        self.files = files
        self.examples = examples
        self.settings = settings
        self.rates: dict[str, float] = {}
        self.exits = model.shape.exits
        self.some_unused = len(self.exits) > 1 and settings.exits.sample != "all"
        weights = settings.objective.named or {"point": 1.0}
        self.objective = Objective(settings.objective, weights, positive_weight=positive_weight(settings, examples))

    @classmethod
    def of(cls, settings: ModelSettings, training: TrainingSettings, groups: Sequence[Group]) -> TransformerLearner:
        """A new ranker on the recipe's encoder, to be trained on the groups."""
        model = checkpoint.begin(**settings.model_dump(exclude={"kind"}))
        files = checkpoint.tokenizer_folder(settings.encoder)
        tokenizer = PairTokenizer.load(files, max_length=settings.max_length, pad_id=model.pad_id)
        return cls(model, tokenizer, files, Examples.of(groups, tokenizer), training)

    def start(self, updates: int) -> None:
        self.exits_at = exit_plan(self.exits, self.settings, updates)

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The exits' losses summed; the parts are means over the exits, and left out where point is all there is."""
        labels, owner = inputs.pop("labels"), inputs.pop("owner")
        how, exits = self.settings.exits, self.exits_at(update)
        logits = model(**inputs, exits=exits, apart=how.gradient == "exit-before", teacher=how.distill > 0)
        found = [self._at(exit, logits, labels, owner) for exit in exits]
        loss = torch.stack([loss for loss, _ in found]).sum()
        names = self.objective.weights if len(self.objective.weights) > 1 else ()
        return loss, {name: torch.stack([parts[name] for _, parts in found]).mean() for name in names}

    def _at(
        self, exit: int, logits: dict[int, Tensor], labels: Tensor, owner: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        loss, parts = self.objective(dict.fromkeys(self.objective.weights, logits[exit]), labels, owner)
        share, last = self.settings.exits.distill, self.exits[-1]
        if share and exit != last:
            taught = distill(logits[exit], logits[last], temperature=self.settings.exits.temperature)
            loss = (1 - share) * loss + share * taught
        return loss, parts

    def ranker(self) -> Ranker:
        return ranker_of(self.model, self.tokenizer)

    def save(self, folder: Path, card: str) -> None:
        checkpoint.save(self.model, folder, tokenizer=self.files, card=card)


def positive_weight(settings: TrainingSettings, examples: Examples) -> float:
    """How many times a correct pair counts."""
    return examples.balance if settings.positive_weight == "balanced" else settings.positive_weight
