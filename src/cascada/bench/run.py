"""A whole benchmark: prepare the folders, measure the engines, then startup, size and peak speed."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cascada.bench.engines import SENTENCE_TRANSFORMERS_INT8, Engine, fitting
from cascada.bench.measure import MeasuringPlan, measure, python_for
from cascada.bench.overheads import COLD_CANDIDATES, Overheads
from cascada.bench.process import ChildFailed, missing, once
from cascada.bench.texts import QUESTION, sentences
from cascada.core import processors
from cascada.core.errors import CascadaError
from cascada.core.folder import CROSS_ENCODER, PLAN_FILE, read_shape
from cascada.core.probe import installed_version
from cascada.systems.load import folder_of
from cascada.text.pairs import PairTokenizer

HERE = Path(__file__).parent

PREPARE_TIMEOUT = 3600
"""Seconds."""

SHAPE = re.compile(r"[1-9]\d*x[1-9]\d*")
"""Layers and width, such as 12x384."""


@dataclass(frozen=True)
class Bench:
    """What is compared, and how thoroughly."""

    source: str
    """A ranker's folder, trained or exported, a cross-encoder in the hub's layout, or a shape such as 12x384."""
    engines: Sequence[Engine]
    plan: MeasuringPlan
    peers: str | None = None
    """Another environment's Python, for peers that are not installed in Cascada's own."""
    seed: int = 0
    starts: int = 3
    """How often each cold start is measured; 0 leaves out startup times, sizes and the peak."""
    on_progress: Callable[[str], None] = lambda line: None

    def run(self) -> dict[str, Any]:
        """All results, as JSON prints them."""
        with tempfile.TemporaryDirectory(prefix="cascada-bench-") as work:
            folders, graphs = self._folders(Path(work))
            exported = folders.get("int8") or folders["fp32"]
            shape = read_shape(exported)
            engines = fitting(self.engines, len(shape["exits"]), plan=(exported / PLAN_FILE).exists())
            texts = Path(work) / "texts.json"
            candidates = sentences(max(*self.plan.candidates, COLD_CANDIDATES), self.seed)
            texts.write_text(json.dumps({"question": QUESTION, "candidates": candidates}), encoding="utf-8")
            results = {
                "machine": machine(),
                "model": {"source": Path(self.source).name, "layers": shape["exits"][-1], "peer_graphs": graphs}
                | {key: shape[key] for key in ("exits", "hidden", "feed_forward", "max_length")},
                "texts": {"seed": self.seed, **_lengths(exported, candidates)},
                "engines": measure(
                    engines,
                    folders,
                    self.plan,
                    texts=texts,
                    max_length=shape["max_length"],
                    peers=self.peers,
                    on_progress=self.on_progress,
                ),
            }
            peer = folders.get("peer") if any(engine.peer for engine in self.engines) else None
            overheads = Overheads(exported, peer, texts, self.peers, self.starts, self.on_progress)
            return results | (overheads.measure() if self.starts else {})

    def _folders(self, work: Path) -> tuple[dict[str, Path], str | None]:
        """The folder of each kind of engine, and what exported the peers' graphs."""
        source = folder_of(self.source)
        if source.is_dir() or not SHAPE.fullmatch(self.source):
            shape = read_shape(source)
            if shape.get("engine") == "onnx":
                return {shape["precision"]: source}, None
            if shape.get("kind", CROSS_ENCODER) != CROSS_ENCODER:
                raise CascadaError(
                    f"{source} is a {shape['kind']} ranker; only transformer cascades and cross-encoders are "
                    "benchmarked."
                )
        for module in ("torch", "transformers", "safetensors", "onnx"):
            if missing(sys.executable, (module,)):
                raise CascadaError(f'preparing a benchmark needs {module}: pip install "cascada[train]"')
        self.on_progress(f"preparing {self.source}")
        self._prepare("cascada.bench.prepare", str(work), str(source))
        folders = {"trained": work / "trained" if (work / "trained").exists() else source}
        folders |= {name: work / name for name in ("fp32", "int8", "peer")}
        needs_graphs = any("graph" in engine.settings for engine in self.engines)
        return folders, self._export_graphs(work / "peer") if needs_graphs else None

    def _export_graphs(self, peer: Path) -> str | None:
        """Export with sentence-transformers and optimum if they are installed, otherwise with torch."""
        self.on_progress("preparing the peers' graphs")
        python, absent = python_for(SENTENCE_TRANSFORMERS_INT8, self.peers)
        try:
            if absent is None:
                once(
                    python,
                    str(HERE / "adapters" / "optimum_graphs.py"),
                    str(peer),
                    _instructions(),
                    timeout=PREPARE_TIMEOUT,
                )
                return "optimum"
            self._prepare("cascada.bench.peer_folder", str(peer))
            return "torch.onnx"
        except CascadaError as failure:
            self.on_progress(f"the peers' graphs: {failure}")
            return None

    def _prepare(self, module: str, *arguments: str) -> None:
        try:
            once(sys.executable, "-m", module, *arguments, timeout=PREPARE_TIMEOUT)
        except ChildFailed as failure:
            raise CascadaError(f"{self.source} could not be prepared: {failure}") from failure


def machine() -> dict[str, Any]:
    """The machine, and how busy it was before."""
    packages = ("cascada", "onnxruntime", "numpy", "tokenizers", "torch")
    return {
        "cpu": processors.cpu(),
        "memory": processors.memory(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version for name in packages if (version := installed_version(name))},
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _lengths(exported: Path, candidates: Sequence[str]) -> dict[str, float]:
    """Tokens per pair with the ranker's tokenizer, before truncation."""
    tokenizer = PairTokenizer.load(exported, max_length=512, pad_id=read_shape(exported)["pad_id"])
    lengths = tokenizer.encode([QUESTION], candidates, [0] * len(candidates)).lengths
    return {"tokens_mean": round(float(lengths.mean()), 1), "tokens_largest": int(lengths.max())}


def _instructions() -> str:
    """The name of this processor's instruction set in optimum's settings."""
    if platform.machine() in ("aarch64", "arm64"):
        return "arm64"
    supported = processors.cpu()["instructions"]
    return "avx512_vnni" if supported.get("avx512_vnni") else "avx512" if supported.get("avx512f") else "avx2"
