"""The interface between the trainer and a model. Each kind of ranker has a learner, and so has the reader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from cascada.ranking.ranker import Ranker
from cascada.training.examples import Examples


class Learner(Protocol):
    """A model and all that is needed to train it."""

    @property
    def model(self) -> nn.Module: ...

    examples: Examples
    """Replaced by examples with the teacher's scores if there is a teacher."""

    @property
    def has_unused_weights(self) -> bool:
        """Whether some updates leave weights unused, which distributed training has to know."""
        ...

    @property
    def learning_rates(self) -> Mapping[str, float]:
        """Weights, by name, that have a learning rate of their own; they get no weight decay."""
        ...

    def begin(self, updates: int) -> None:
        """Called once before training, with the number of updates."""
        ...

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch, and its parts for the record; `model` is the learner's own, perhaps wrapped."""
        ...

    def save(self, folder: Path, card: str) -> None:
        """Write the model's folder."""
        ...


class RankerLearner(Learner, Protocol):
    """A ranker and all that is needed to train it."""

    def ranker(self) -> Ranker:
        """The model in its present state as a ranker, to be measured."""
        ...
