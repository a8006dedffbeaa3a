"""What the trainer has to know of a ranker to train it. Each kind of ranker has a file that says it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from cascada.ranking.ranker import Ranker
from cascada.training.examples import Examples


class Learner(Protocol):
    """A ranker that learns."""

    @property
    def model(self) -> nn.Module: ...

    @property
    def examples(self) -> Examples: ...

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
        """The loss of a batch, and its parts for the record; `model` is the ranker's, perhaps wrapped."""
        ...

    def ranker(self) -> Ranker:
        """The model as it is now, to be measured."""
        ...

    def save(self, folder: Path, card: str) -> None:
        """Write the ranker's folder."""
        ...
