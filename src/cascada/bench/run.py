"""A whole benchmark: prepare the folders, measure the engines, then startup, size and peak speed."""

from __future__ import annotations

import json
import os
import platform
import random
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from cascada.bench.engines import SENTENCE_TRANSFORMERS_INT8, Engine, fitting
from cascada.bench.measure import OWN_LISTS, MeasuringPlan, Row, measure, python_for
from cascada.bench.overheads import COLD_CANDIDATES, Overheads
from cascada.bench.process import ChildFailed, missing, once
from cascada.bench.quality import Quality
from cascada.bench.texts import QUESTION, sentences
from cascada.core import processors
from cascada.core.errors import CascadaError
from cascada.core.folder import CROSS_ENCODER, TRANSFORMER, read_shape
from cascada.core.probe import installed_version
from cascada.data.sample import evenly_spaced
from cascada.systems.cascade.shape import default_exits
from cascada.systems.load import folder_of
from cascada.text.pairs import PairTokenizer

HERE = Path(__file__).parent

PREPARE_TIMEOUT = 3600
"""Seconds."""

SHAPE = re.compile(r"[1-9]\d*x[1-9]\d*")
"""Layers and width, such as 12x384."""


@dataclass(frozen=True)
class Prepared:
    """The folder of each kind of engine, what exported the peers' graphs, and whether peers have the ranker's head."""

    folders: dict[str, Path]
    graphs: str | None = None
    own_head: bool = False


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
    quality: Quality | None = None
    """The data set on which quality is measured beside speed. Its lists are then what is timed."""
    starts: int = 3
    """How often each cold start is measured; 0 leaves out startup times, sizes and the peak."""
    on_progress: Callable[[str], None] = lambda line: None

    def run(self) -> dict[str, Any]:
        """All results, as JSON prints them."""
        if self.quality:
            self.quality.check_candidates([count for count in self.plan.candidates if count != OWN_LISTS])
        with tempfile.TemporaryDirectory(prefix="cascada-bench-") as work:
            prepared = self._prepared(Path(work))
            folders = prepared.folders
            exported = folders.get("int8") or folders["fp32"]
            shape = read_shape(exported)
            plan = self._plan()
            texts = self._write_texts(Path(work) / "texts.json")
            engines = measure(
                fitting(self.engines, len(shape["exits"])),
                folders,
                plan,
                texts=texts,
                max_length=shape["max_length"],
                peers=self.peers,
                quality=partial(self._measure_quality, own_head=prepared.own_head),
                on_progress=self.on_progress,
            )
            results = {
                "machine": machine(),
                "model": {"source": Path(self.source).name, "layers": shape["exits"][-1]}
                | {"peer_graphs": prepared.graphs}
                | {key: shape[key] for key in ("exits", "hidden", "feed_forward", "max_length")},
                "texts": self._about_texts(texts, exported, plan.lists[: _most_repeats(engines)]),
                "engines": engines,
            }
            if self.quality:
                results["quality"] = self.quality.to_dict()
            peer = folders.get("peer") if any(engine.peer for engine in self.engines) else None
            overheads = Overheads(exported, peer, texts, self.peers, self.starts, self.on_progress)
            return results | (overheads.measure() if self.starts else {})

    def _plan(self) -> MeasuringPlan:
        """With data, every repeat ranks another of its lists: a plan may drop more of one list than of another.

        The lists are spread evenly over the data and shuffled, so that the first few represent all of them if time runs
        out.
        """
        if self.quality is None:
            return self.plan
        groups = self.quality.groups
        lists = evenly_spaced(range(len(groups)), self.plan.repeats)
        mean_length = fmean(len(groups[place].candidates) for place in lists)
        candidates = sorted(self.plan.candidates, key=lambda count: mean_length if count == OWN_LISTS else count)
        drawn = tuple(random.Random(self.seed).sample(lists, len(lists)))
        return replace(self.plan, candidates=tuple(candidates), repeats=len(lists), lists=drawn)

    def _measure_quality(self, rows: Sequence[Row], *, own_head: bool) -> None:
        if self.quality:
            self.quality.measured(rows, own_head=own_head, on_progress=self.on_progress)

    def _write_texts(self, path: Path) -> Path:
        """Write the texts to time with, and the data set if there is one.

        With data, `question` and `candidates` are what processes load and start with.
        """
        count = max(*self.plan.candidates, COLD_CANDIDATES)
        data = self.quality.texts() if self.quality else []
        question = data[0][0] if data else QUESTION
        data_texts = [text for _, texts in data for text in texts]
        candidates = list(islice(cycle(data_texts), count)) if data_texts else sentences(count, self.seed)
        path.write_text(json.dumps({"question": question, "candidates": candidates, "data": data}), encoding="utf-8")
        return path

    def _about_texts(self, path: Path, exported: Path, timed: Sequence[int]) -> dict[str, Any]:
        """How many lists of the data were timed, and how long their pairs are; without data, the one list's."""
        texts = json.loads(path.read_text(encoding="utf-8"))
        lists = [texts["data"][place] for place in timed] or [(texts["question"], texts["candidates"])]
        return {"seed": self.seed, "lists": len(timed), **_lengths(exported, lists)}

    def _prepared(self, work: Path) -> Prepared:
        source = folder_of(self.source)
        if source.is_dir() or not SHAPE.fullmatch(self.source):
            shape = read_shape(source)
            if shape.get("engine") == "onnx":
                return Prepared({shape["precision"]: source})
            if shape.get("kind", TRANSFORMER) not in (TRANSFORMER, CROSS_ENCODER):
                raise CascadaError(
                    f"{source} is a {shape['kind']} ranker; only transformer cascades and cross-encoders are compared "
                    "with peers: export it, and benchmark the export alone."
                )
        for module in ("torch", "transformers", "safetensors", "onnx"):
            if missing(sys.executable, (module,)):
                raise CascadaError(f'preparing a benchmark needs {module}: pip install "cascada[train]"')
        self.on_progress(f"preparing {self.source}")
        own_head = self._prepare("cascada.bench.prepare", str(work), str(source))["own_head"]
        folders = {"trained": work / "trained" if (work / "trained").exists() else source}
        folders |= {name: work / name for name in ("fp32", "int8", "peer")}
        needs_graphs = any("graph" in engine.settings for engine in self.engines)
        return Prepared(folders, self._export_graphs(work / "peer") if needs_graphs else None, own_head)

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

    def _prepare(self, module: str, *arguments: str) -> dict[str, Any]:
        try:
            return once(sys.executable, "-m", module, *arguments, timeout=PREPARE_TIMEOUT)
        except ChildFailed as failure:
            raise CascadaError(f"{self.source} could not be prepared: {failure}") from failure


def exits_of(source: str) -> tuple[int, ...]:
    """The exits of what is measured: a ranker's folder, a cross-encoder, or a shape such as 12x384."""
    folder = folder_of(source)
    if folder.is_dir() or not SHAPE.fullmatch(source):
        return tuple(read_shape(folder)["exits"])
    return default_exits(int(source.partition("x")[0]))


def _most_repeats(engines: Sequence[dict[str, Any]]) -> int:
    """How often an engine was timed at most; fewer than planned if time ran out."""
    return max((len(cell["seconds"]) for row in engines for cell in row["cells"]), default=0)


def machine() -> dict[str, Any]:
    """The machine, and its load before the run."""
    packages = ("cascada", "onnxruntime", "numpy", "tokenizers", "torch")
    return {
        "cpu": processors.cpu(),
        "memory": processors.memory(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version for name in packages if (version := installed_version(name))},
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _lengths(exported: Path, lists: Sequence[tuple[str, list[str]]]) -> dict[str, float]:
    """Tokens per pair with the ranker's tokenizer, before truncation."""
    tokenizer = PairTokenizer.load(exported, max_length=512, pad_id=read_shape(exported)["pad_id"])
    lengths = np.concatenate(
        [tokenizer.encode([question], texts, [0] * len(texts)).lengths for question, texts in lists]
    )
    return {"tokens_mean": round(float(lengths.mean()), 1), "tokens_largest": int(lengths.max())}


def _instructions() -> str:
    """The name of this processor's instruction set in optimum's settings."""
    if platform.machine() in ("aarch64", "arm64"):
        return "arm64"
    supported = processors.cpu()["instructions"]
    return "avx512_vnni" if supported.get("avx512_vnni") else "avx512" if supported.get("avx512f") else "avx2"
