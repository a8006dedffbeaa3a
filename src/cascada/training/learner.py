"""What the trainer has to know of a model to train it. Each kind of ranker has a file that says it, and the reader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from cascada.ranking.ranker import Ranker
from cascada.training.examples import Examples


class Learner(Protocol):
    """A model that learns."""

    @property
    def model(self) -> nn.Module: ...

    examples: Examples
    """Replaced when a teacher's scores come to them."""

    @property
    def some_unused(self) -> bool:
        """Whether an update leaves weights out, which several processes have to agree on."""
        ...

    @property
    def rates(self) -> Mapping[str, float]:
        """Weights, by name, that have a learning rate of their own, and no decay."""
        ...

    def start(self, updates: int) -> None:
        """Called once, when it is known how many updates there will be."""
        ...

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch, and its parts for the record; `model` is its own, perhaps wrapped."""
        ...

    def save(self, folder: Path, card: str) -> None:
        """Write the model's folder."""
        ...


class RankerLearner(Learner, Protocol):
    """A ranker that learns."""

    def ranker(self) -> Ranker:
        """The model as it is now, to be measured."""
        ...
