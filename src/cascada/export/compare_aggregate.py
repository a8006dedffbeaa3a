"""What is written of a compare-aggregate ranker."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from cascada.export.compare_graph import compare_graph, weights_of
from cascada.export.products import Products
from cascada.export.store import Store
from cascada.models.compare_aggregate.folder import load
from cascada.ranking.exported import stage_file
from cascada.ranking.folder import COMPARE_AGGREGATE
from cascada.text.vocabulary import WORDS_FILE


class CompareAggregateExport:
    """One graph, and the vocabulary."""

    def __init__(self, folder: Path, precision: str) -> None:
        self.model, self.vocabulary = load(folder)
        self.precision = precision
        self.weights = weights_of(self.model)

    def write(self, folder: Path, products: Products, store: Store, *, safe: bool) -> None:
        graph = compare_graph(self.weights, products=products, store=store)
        (folder / stage_file(0, safe=safe)).write_bytes(graph.SerializeToString())
        self.vocabulary.save(folder / WORDS_FILE)

    def about(self) -> dict[str, Any]:
        shape = dataclasses.asdict(self.model.shape)
        return {"kind": COMPARE_AGGREGATE, "exits": [0], **shape, "precision": self.precision}
