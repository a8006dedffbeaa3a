"""Write a trained ranker as stage graphs."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Literal

from cascada.errors import CascadaError
from cascada.export.graph import stage_graph
from cascada.export.products import Float32, Int8, Products, Widened
from cascada.export.store import Store
from cascada.export.weights import RankerWeights, weights_of
from cascada.models.checkpoint import TOKENIZER_FILES, load
from cascada.models.staged import StagedRanker
from cascada.ranking.exported import MANIFEST_FILE, WEIGHTS_FILE, Exported, manifest_of, stage_file
from cascada.ranking.folder import FORMAT, SHAPE_FILE
from cascada.ranking.plan_file import PLAN_FILE

Precision = Literal["int8", "fp32"]


def export(folder: Path, out: Path, precision: Precision = "int8", *, bits: int = 7) -> None:
    """Write the ranker in `folder` for the ONNX engine into `out`; until its last file is there, it is no ranker."""
    if (out / SHAPE_FILE).exists():
        raise CascadaError(f"{out} is a ranker already; name another folder.")
    model = load(folder)
    products: Products = Int8(bits) if precision == "int8" else Float32()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".exporting-") as work:
        made = Path(work)
        with open(made / WEIGHTS_FILE, "wb") as file:
            store = Store(file, WEIGHTS_FILE)
            weights = weights_of(model)
            write_stages(weights, made, products, store)
            if precision == "int8":
                write_stages(weights, made, Widened(bits), store, safe=True)
        for name in (*TOKENIZER_FILES, "README.md", PLAN_FILE):
            if (folder / name).exists():
                shutil.copy(folder / name, made)
        about = {"format": FORMAT, "engine": "onnx", **dataclasses.asdict(_about(model, precision))}
        (made / SHAPE_FILE).write_text(json.dumps(about, indent=2), encoding="utf-8")
        (made / MANIFEST_FILE).write_text(json.dumps({"sha256": manifest_of(made)}, indent=2), encoding="utf-8")
        for path in sorted(made.iterdir(), key=lambda path: path.name == SHAPE_FILE):
            os.replace(path, out / path.name)


def write_stages(weights: RankerWeights, folder: Path, products: Products, store: Store, *, safe: bool = False) -> None:
    exits = tuple(weights.heads)
    kept = "float32" if isinstance(products, Float32) else "float16"
    for first, exit in zip((0, *exits), exits, strict=False):
        last = exit == exits[-1]
        graph = stage_graph(weights, first, exit, last=last, products=products, kept=kept, store=store)
        (folder / stage_file(exit, safe=safe)).write_bytes(graph.SerializeToString())


def _about(model: StagedRanker, precision: Precision) -> Exported:
    return Exported(
        exits=model.shape.exits,
        head=model.shape.head,
        max_length=model.shape.max_length,
        hidden=model.encoder.hidden_size,
        feed_forward=model.encoder.feed_forward_size,
        pad_id=model.pad_id,
        kept="float16" if precision == "int8" else "float32",
        precision=precision,
    )
