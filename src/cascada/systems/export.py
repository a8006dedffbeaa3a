"""Export a trained model as ONNX graphs, and measure how closely they reproduce its scores."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from cascada.core.folder import CARD_FILE, PLAN_FILE, kind_of, require_no_ranker, require_trained, saving
from cascada.data import Group, Run, qrels
from cascada.graphs.graph import WeightsFile
from cascada.graphs.products import Dequantised, Float32, Int8, Products
from cascada.metrics import evaluate
from cascada.ranking import Ranker
from cascada.ranking.runs import exit_runs
from cascada.systems.registry import part

Precision = Literal["int8", "fp32"]
WEIGHTS_FILE = "weights.bin"

TOLERANCE = 1e-4
"""The largest difference from torch's scores that a float32 export may have."""


def export(folder: Path, out: Path, precision: Precision = "int8") -> None:
    """Write the model in `folder` as ONNX graphs into `out`; until its last file is in place, `out` is no model."""
    require_no_ranker(out)
    require_trained(folder, kind_of(folder), "a trained ranker")
    exporter: Exporter = part(kind_of(folder), "export").exporter(folder, precision)
    products: Products = Int8() if precision == "int8" else Float32()
    with saving(out, {"engine": "onnx", **exporter.shape()}, manifest=True) as temporary:
        with open(temporary / WEIGHTS_FILE, "wb") as file:
            weights = WeightsFile(file, WEIGHTS_FILE)
            exporter.write(temporary, products, weights, safe=False)
            if precision == "int8":
                exporter.write(temporary, Dequantised(), weights, safe=True)
        for name in ("tokenizer.json", CARD_FILE, PLAN_FILE):
            if (folder / name).exists():
                shutil.copy(folder / name, temporary)


class Exporter(Protocol):
    """A trained ranker, ready to be written as graphs."""

    def write(self, folder: Path, products: Products, weights_file: WeightsFile, *, safe: bool) -> None:
        """Write the graphs. `safe` names the files of graphs that multiply in float32."""
        ...

    def shape(self) -> dict[str, Any]:
        """The content of `cascada.json`: all that the engine has to know before it reads a graph."""
        ...


@dataclass(frozen=True)
class Agreement:
    """A trained model and its export, compared: rankers on all candidates without drops, readers on all questions."""

    largest_difference: float
    """Of any score, of a ranker at any exit."""
    trained: float
    """The measure of the trained model; of a ranker at the last exit."""
    exported: float
    """The same of the exported model."""
    measure: str = "MAP"
    """What was measured: a ranker's MAP, a reader's F1."""

    @property
    def loss(self) -> float:
        return self.trained - self.exported


def agreement(
    folder: Path, out: Path, groups: Sequence[Group], advance: Callable[[int], None] = lambda pairs: None
) -> Agreement:
    """Rank the groups, which must have ids, with both rankers; `advance` is called with the number of ranked pairs."""
    trained, exported = (exit_runs(Ranker.load(place), groups, advance) for place in (folder, out))
    labels = qrels(groups)
    return Agreement(
        largest_difference=max(_difference(*runs) for runs in zip(trained, exported, strict=True)),
        trained=evaluate(trained[-1], labels, ("MAP",)).mean["MAP"],
        exported=evaluate(exported[-1], labels, ("MAP",)).mean["MAP"],
    )


def _difference(first: Run, second: Run) -> float:
    return max(abs(score - second[question][name]) for question, row in first.items() for name, score in row.items())
