"""Measure the cost of a question on one core, for each kind of ranker, and the size of a document in a store.

    python benchmarks/capacity_measure.py > benchmarks/capacity-sentences.json
    python benchmarks/capacity_measure.py --words 125 --documents 200 --repeats 3 > benchmarks/capacity-paragraphs.json

`benchmarks/capacity.py` reads the results. All rankers are int8 exports with random weights of one shape, on the same
texts; decoupled ones read documents from a store. Each has one thread, and they rank in turn, few candidates and many.
Seconds are CPU times, which depend little on other work on the machine; medians of the repeats.
"""

from __future__ import annotations

import os

os.environ.update(CASCADA_THREADS="1", OMP_NUM_THREADS="1")  # before anything that makes threads is imported

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from cascada import Ranker
from cascada.bench.prepare import random_ranker
from cascada.bench.run import machine
from cascada.bench.texts import QUESTION, sentences
from cascada.store import FORMS, Store, stats
from cascada.systems.decoupled.engine import document_encoder
from cascada.systems.decoupled.folder import begin, save
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.export import export

FEW, MANY = 10, 100
DECOUPLED = {"DC-BERT": (12, (13,)), "decoupled cascade": (6, (6, 8, 10, 12))}
"""Join and exits; an exit at the join scores by late interaction."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="12x384", help="layers and width; it must have twelve layers")
    parser.add_argument("--words", type=int, help="length of every document; by default sentences of realistic lengths")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    texts = documents(options.documents, options.words)
    with tempfile.TemporaryDirectory() as work, redirect_stdout(sys.stderr):
        results = measured(Path(work), options, texts)
    print(json.dumps(results, indent=1))


def documents(count: int, words: int | None) -> list[str]:
    if words is None:
        return sentences(count)
    pool = " ".join(sentences(count * (words // 5))).replace(".", "").split()
    return [" ".join(pool[start : start + words]) + "." for start in range(0, count * words, words)]


def measured(work: Path, options: argparse.Namespace, texts: list[str]) -> dict[str, Any]:
    layers, _, width = options.shape.partition("x")
    trained = random_ranker(work / "trained", int(layers), int(width), max_length=256)
    export(trained, work / "cascade")
    cascade = Ranker.load(work / "cascade")
    rankers: dict[str, Callable[[list[str]], Any]] = {
        "cross-encoder": lambda texts: cascade.rank(QUESTION, texts, drop=0),
        "cascade, α = 0.3": lambda texts: cascade.rank(QUESTION, texts, drop=0.3),
        "cascade, α = 0.5": lambda texts: cascade.rank(QUESTION, texts, drop=0.5),
    }
    stores = {}
    for name, (join, exits) in DECOUPLED.items():
        folder = decoupled(trained, work / name, DecoupledShape(join, exits))
        stores[name] = filled(folder, work / f"{name}.store", texts)
        ranker = Ranker.load(folder, store=work / f"{name}.store" / "int8")
        drops = (0.3, 0.5) if len(exits) > 1 else (0,)
        for drop in drops:
            label = f"{name}, α = {drop}" if drop else name
            rankers[label] = lambda texts, ranker=ranker, drop=drop: ranker.rank(QUESTION, texts, drop=drop)
    seconds = in_turn(rankers, texts, options.repeats)
    return {
        "command": " ".join(["python", *sys.argv]),
        "machine": machine(),
        "shape": options.shape,
        "texts": {"documents": len(texts), "bytes": statistics.fmean(len(text.encode()) for text in texts)},
        "stores": stores,
        "rankers": [
            {"ranker": name, "store": name.partition(",")[0] if name.partition(",")[0] in stores else None, **times}
            for name, times in seconds.items()
        ],
    }


def decoupled(trained: Path, folder: Path, shape: DecoupledShape) -> Path:
    save(begin(str(trained), shape), folder / "trained", tokenizer=trained, card="# Random weights\n")
    export(folder / "trained", folder / "int8")
    return folder / "int8"


def filled(model: Path, folder: Path, texts: list[str]) -> dict[str, Any]:
    """Fill the stores; seconds to encode a document, and its bytes in each number format."""
    encoder = document_encoder(model)
    encoder.encode(texts[:8])
    started = time.process_time()
    encodings = encoder.encode(texts)
    seconds = (time.process_time() - started) / len(texts)
    forms = {}
    for form in FORMS:
        store = Store.create(folder / form, fingerprint=encoder.fingerprint, width=encoder.width, form=form)
        store.put(texts, encodings)
        size = stats(store)
        forms[form] = {"entry": size.entry_bytes / size.documents, "disk": size.bytes_per_document}
    return {"encode_seconds": seconds, "tokens": size.tokens_per_document, "bytes": forms}


def in_turn(
    rankers: dict[str, Callable[[list[str]], Any]], texts: list[str], repeats: int
) -> dict[str, dict[str, float]]:
    """Seconds per question with few candidates and with many; the first round is the warm-up."""
    times: dict[str, dict[int, list[float]]] = {name: {FEW: [], MANY: []} for name in rankers}
    for repeat in range(-1, repeats):
        for count in (FEW, MANY):
            start = (max(repeat, 0) * MANY) % (len(texts) - count + 1)
            for name, rank in rankers.items():
                started = time.process_time()
                rank(texts[start : start + count])
                if repeat >= 0:
                    times[name][count].append(time.process_time() - started)
    return {
        name: {str(count): statistics.median(seconds) for count, seconds in counts.items()}
        for name, counts in times.items()
    }


if __name__ == "__main__":
    main()
