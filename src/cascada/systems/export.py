"""From a trained ranker to graphs for ONNX Runtime, and whether they still rank as the trained one does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from cascada.core.folder import CARD_FILE, PLAN_FILE, kind_of, refuse_a_ranker, require_trained, saving
from cascada.data import Group, Run, qrels
from cascada.graphs.graph import WeightsFile
from cascada.graphs.products import Dequantised, Float32, Int8, Products
from cascada.metrics import evaluate
from cascada.ranking import Ranker
from cascada.ranking.runs import exit_runs
from cascada.systems.registry import part

Precision = Literal["int8", "fp32"]


WEIGHTS_FILE = "weights.bin"


def export(folder: Path, out: Path, precision: Precision = "int8") -> None:
    """Write the ranker in `folder` as ONNX graphs into `out`, which is not a ranker until its last file is there."""
    refuse_a_ranker(out)
    require_trained(folder, kind_of(folder), "a trained ranker")
    exporter: Exporter = part(kind_of(folder), "export").exporter(folder, precision)
    products: Products = Int8() if precision == "int8" else Float32()
    with saving(out, {"engine": "onnx", **exporter.shape()}, manifest=True) as made:
        with open(made / WEIGHTS_FILE, "wb") as file:
            weights = WeightsFile(file, WEIGHTS_FILE)
            exporter.write(made, products, weights, safe=False)
            if precision == "int8":
                exporter.write(made, Dequantised(), weights, safe=True)
        for name in ("tokenizer.json", CARD_FILE, PLAN_FILE):
            if (folder / name).exists():
                shutil.copy(folder / name, made)


class Exporter(Protocol):
    """A ranker that can be written as graphs, in some precision."""

    def write(self, folder: Path, products: Products, weights_file: WeightsFile, *, safe: bool) -> None:
        """Write the graphs; `safe` ones multiply in float32."""
        ...

    def shape(self) -> dict[str, Any]:
        """What `cascada.json` says: all that the engine has to know before it reads a graph."""
        ...


CLOSE = 1e-4
"""How far a score in full precision may be from torch's."""


@dataclass(frozen=True)
class Agreement:
    """Trained against exported, everyone run to the end."""

    largest_difference: float
    """Of any score at any exit."""
    trained: float
    """MAP at the last exit."""
    exported: float

    @property
    def loss(self) -> float:
        return self.trained - self.exported


def agreement(
    folder: Path, out: Path, groups: Sequence[Group], advance: Callable[[int], None] = lambda pairs: None
) -> Agreement:
    """Rank the groups, which must have ids, with both; `advance` is told of pairs that were ranked."""
    before, after = (exit_runs(Ranker.load(place), groups, advance) for place in (folder, out))
    labels = qrels(groups)
    return Agreement(
        largest_difference=max(_difference(*runs) for runs in zip(before, after, strict=True)),
        trained=evaluate(before[-1], labels, ("MAP",)).mean["MAP"],
        exported=evaluate(after[-1], labels, ("MAP",)).mean["MAP"],
    )


def _difference(one: Run, other: Run) -> float:
    return max(abs(score - other[question][name]) for question, row in one.items() for name, score in row.items())
