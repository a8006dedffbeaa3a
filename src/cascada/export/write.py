"""Write a trained ranker as stage graphs."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal, Protocol

from cascada.export.compare_aggregate import CompareAggregateExport
from cascada.export.decoupled import DecoupledExport
from cascada.export.graph import stage_graph
from cascada.export.products import Float32, Int8, Products, Widened
from cascada.export.reach import sample, watch
from cascada.export.store import Store
from cascada.export.weights import weights_of
from cascada.models.checkpoint import load
from cascada.models.staged import StagedRanker
from cascada.ranking.engines.pytorch import ranker_of
from cascada.ranking.exported import MANIFEST_FILE, WEIGHTS_FILE, Exported, manifest_of, stage_file
from cascada.ranking.folder import COMPARE_AGGREGATE, DECOUPLED, FORMAT, SHAPE_FILE, read_shape, refuse_a_ranker
from cascada.ranking.plan_file import PLAN_FILE
from cascada.text.pairs import PairTokenizer

Precision = Literal["int8", "fp32"]


def export(folder: Path, out: Path, precision: Precision = "int8") -> None:
    """Write the ranker in `folder` for the ONNX engine into `out`; until its last file is there, it is no ranker."""
    refuse_a_ranker(out)
    ranker = exportable(folder, precision)
    products: Products = Int8() if precision == "int8" else Float32()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".exporting-") as work:
        made = Path(work)
        with open(made / WEIGHTS_FILE, "wb") as file:
            store = Store(file, WEIGHTS_FILE)
            ranker.write(made, products, store, safe=False)
            if precision == "int8":
                ranker.write(made, Widened(), store, safe=True)
        for name in ("tokenizer.json", "README.md", PLAN_FILE):
            if (folder / name).exists():
                shutil.copy(folder / name, made)
        about = {"format": FORMAT, "engine": "onnx", **ranker.about()}
        (made / SHAPE_FILE).write_text(json.dumps(about, indent=2), encoding="utf-8")
        (made / MANIFEST_FILE).write_text(json.dumps({"sha256": manifest_of(made)}, indent=2), encoding="utf-8")
        for path in sorted(made.iterdir(), key=lambda path: path.name == SHAPE_FILE):
            os.replace(path, out / path.name)


def exportable(folder: Path, precision: Precision) -> Exportable:
    kind = read_shape(folder).get("kind")
    if kind == DECOUPLED:
        return DecoupledExport.of(folder, precision)
    if kind == COMPARE_AGGREGATE:
        return CompareAggregateExport(folder, precision)
    model = load(folder)
    if precision == "int8":
        tokenizer = PairTokenizer.load(folder, max_length=model.shape.max_length, pad_id=model.pad_id)
        ranker = ranker_of(model, tokenizer)
        watch(model, lambda: [ranker.rank(question, texts, drop=0) for question, texts in sample()])
    return TransformerExport(model, precision)


class Exportable(Protocol):
    """A ranker of some kind, in some precision."""

    def write(self, folder: Path, products: Products, store: Store, *, safe: bool) -> None:
        """Its graphs."""
        ...

    def about(self) -> dict[str, Any]:
        """What the engine has to know before it reads a graph."""
        ...


class TransformerExport:
    """One graph for each exit."""

    def __init__(self, model: StagedRanker, precision: Precision) -> None:
        self.model = model
        self.precision = precision
        self.weights = weights_of(model)

    def write(self, folder: Path, products: Products, store: Store, *, safe: bool) -> None:
        exits = self.model.shape.exits
        kept = "float32" if isinstance(products, Float32) else "float16"
        for first, exit in zip((0, *exits), exits, strict=False):
            last = exit == exits[-1]
            graph = stage_graph(self.weights, first, exit, last=last, products=products, kept=kept, store=store)
            (folder / stage_file(exit, safe=safe)).write_bytes(graph.SerializeToString())

    def about(self) -> dict[str, Any]:
        model = self.model
        found = Exported(
            exits=model.shape.exits,
            head=model.shape.head,
            max_length=model.shape.max_length,
            hidden=model.encoder.hidden_size,
            feed_forward=model.encoder.feed_forward_size,
            pad_id=model.pad_id,
            kept="float16" if self.precision == "int8" else "float32",
            precision=self.precision,
            head_width=model.shape.head_width,
        )
        return dataclasses.asdict(found)
