"""A whole benchmark: folders, engines, start, size, peak."""

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

from cascada.bench.engines import SENTENCE_TRANSFORMERS_INT8, Engine
from cascada.bench.measure import Plan, measure, python_for
from cascada.bench.prepare import QUESTION, sentences
from cascada.bench.process import ChildFailed, missing, once
from cascada.bench.surroundings import COLD, Surroundings
from cascada.core import processors
from cascada.core.errors import CascadaError
from cascada.core.folder import read_shape
from cascada.text.pairs import PairTokenizer

HERE = Path(__file__).parent


LONG = 3600


SHAPE = re.compile(r"[1-9]\d*x[1-9]\d*")


@dataclass(frozen=True)
class Bench:
    """What is compared, and how thoroughly."""

    source: str
    """A ranker's folder, trained or exported, or a shape such as 12x384."""
    engines: Sequence[Engine]
    plan: Plan
    peers: str | None = None
    """Another environment's Python, for peers that are not installed beside Cascada."""
    seed: int = 0
    starts: int = 3
    """How often each cold start is measured; 0 leaves out starts, sizes and the peak."""
    tell: Callable[[str], None] = lambda line: None

    def run(self) -> dict[str, Any]:
        """Everything, as JSON would have it."""
        with tempfile.TemporaryDirectory(prefix="cascada-bench-") as work:
            folders, graphs = self._folders(Path(work))
            exported = folders.get("int8") or folders["fp32"]
            shape = read_shape(exported)
            texts = Path(work) / "texts.json"
            candidates = sentences(max(*self.plan.candidates, COLD), self.seed)
            texts.write_text(json.dumps({"question": QUESTION, "candidates": candidates}), encoding="utf-8")
            found = {
                "machine": machine(),
                "model": {"source": Path(self.source).name, "layers": shape["exits"][-1], "peer_graphs": graphs}
                | {key: shape[key] for key in ("exits", "hidden", "feed_forward", "max_length")},
                "texts": {"seed": self.seed, **_lengths(exported, candidates)},
                "engines": measure(
                    self.engines,
                    folders,
                    self.plan,
                    texts=texts,
                    max_length=shape["max_length"],
                    peers=self.peers,
                    tell=self.tell,
                ),
            }
            peer = folders.get("peer") if any(one.peer for one in self.engines) else None
            about = Surroundings(exported, peer, texts, self.peers, self.starts, self.tell)
            return found | (about.measure() if self.starts else {})

    def _folders(self, work: Path) -> tuple[dict[str, Path], str | None]:
        """Where each kind of engine finds the weights, and who made the peers' graphs."""
        source = Path(self.source)
        if source.is_dir() or not SHAPE.fullmatch(self.source):
            shape = read_shape(source)
            if shape.get("engine") == "onnx":
                return {shape["precision"]: source}, None
            if "kind" in shape:
                raise CascadaError(f"{source} is a {shape['kind']} ranker; the benchmark is of transformers.")
        for module in ("torch", "transformers", "safetensors", "onnx"):
            if missing(sys.executable, (module,)):
                raise CascadaError(f'preparing a benchmark needs {module}: pip install "cascada[train]"')
        self.tell(f"preparing {self.source}")
        self._prepare("cascada.bench.prepare", str(work), self.source)
        made = {"trained": work / "trained" if (work / "trained").exists() else source}
        made |= {name: work / name for name in ("fp32", "int8", "peer")}
        return made, self._graphs(work / "peer") if any("graph" in one.settings for one in self.engines) else None

    def _graphs(self, peer: Path) -> str | None:
        """By sentence-transformers and optimum if they are at hand, by torch otherwise."""
        self.tell("preparing the peers' graphs")
        python, absent = python_for(SENTENCE_TRANSFORMERS_INT8, self.peers)
        try:
            if absent is None:
                once(python, str(HERE / "adapters" / "optimum_graphs.py"), str(peer), _instructions(), timeout=LONG)
                return "optimum"
            self._prepare("cascada.bench.peer_folder", str(peer))
            return "torch.onnx"
        except CascadaError as failure:
            self.tell(f"the peers' graphs: {failure}")
            return None

    def _prepare(self, module: str, *arguments: str) -> None:
        try:
            once(sys.executable, "-m", module, *arguments, timeout=LONG)
        except ChildFailed as failure:
            raise CascadaError(f"{self.source} could not be prepared: {failure}") from failure


def machine() -> dict[str, Any]:
    """Where it was measured, and how busy that was."""
    packages = ("cascada", "onnxruntime", "numpy", "tokenizers", "torch")
    return {
        "cpu": processors.cpu(),
        "memory": processors.memory(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version for name in packages if (version := processors.version(name))},
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _lengths(exported: Path, candidates: Sequence[str]) -> dict[str, float]:
    """Tokens of a pair, as the ranker's tokenizer has them, before anything is cut."""
    tokenizer = PairTokenizer.load(exported, max_length=512, pad_id=read_shape(exported)["pad_id"])
    lengths = tokenizer.encode([QUESTION], candidates, [0] * len(candidates)).lengths
    return {"tokens_mean": round(float(lengths.mean()), 1), "tokens_largest": int(lengths.max())}


def _instructions() -> str:
    """Which of optimum's settings is this processor's."""
    if platform.machine() in ("aarch64", "arm64"):
        return "arm64"
    there = processors.cpu()["instructions"]
    return "avx512_vnni" if there.get("avx512_vnni") else "avx512" if there.get("avx512f") else "avx2"
