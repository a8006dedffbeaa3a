"""Training speed: batches by token budget against fixed batches of 32 pairs, in one run.

    python benchmarks/batches.py ENCODER DATA_ROOT [--layers 12] [--seconds 60]

Both train the same model from the same weights on WikiQA's training pairs (no all-negative questions) and are timed
alternately, a stretch each, so that other load on the machine affects both.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import torch

from cascada.data import load
from cascada.encoders.encoder import load_encoder
from cascada.objectives.losses import point
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape
from cascada.text.pairs import PairTokenizer
from cascada.training.batches import BatchPlan
from cascada.training.examples import Examples
from cascada.training.settings import BatchSettings, TrainingSettings

STRETCHES = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("root")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=60, help="for each way, in all")
    options = parser.parse_args()
    tokenizer = PairTokenizer.load(Path(options.encoder), max_length=128)
    examples = Examples.of(load("wikiqa", root=options.root, split="train", mode="no-all-negative"), tokenizer)
    ways = {
        "token budget 1000": BatchSettings(by="tokens", size=1000),
        "fixed 32": BatchSettings(by="pairs", size=32),
    }
    runs = {name: Run(options, examples, TrainingSettings(batch=batch)) for name, batch in ways.items()}
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(STRETCHES):
        for name, run in runs.items():
            speeds[name].append(run.stretch(options.seconds / STRETCHES))
    result = {name: round(statistics.median(values), 2) for name, values in speeds.items()}
    padding = {name: round(run.padding(), 4) for name, run in runs.items()}
    ratio = result["token budget 1000"] / result["fixed 32"]
    print(json.dumps({"pairs per second": result, "share of padding": padding, "ratio": round(ratio, 3)}, indent=2))


class Run:
    """One model under training."""

    def __init__(self, options: argparse.Namespace, examples: Examples, settings: TrainingSettings) -> None:
        torch.manual_seed(1)
        self.model = CascadeRanker(
            load_encoder(options.encoder, layers=options.layers), CascadeShape((options.layers,))
        ).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5, fused=True)
        self.examples = examples
        self.plan = BatchPlan(examples, settings)
        self.batches: Iterator[list[int]] = (rows for epoch in count() for rows in self.plan.epoch(epoch))

    def stretch(self, seconds: float) -> float:
        """Train for about this many seconds; return pairs per second."""
        self.step()  # warm-up
        started, pairs = time.perf_counter(), 0
        while time.perf_counter() - started < seconds:
            pairs += self.step()
        return pairs / (time.perf_counter() - started)

    def step(self) -> int:
        batch = self.examples.collate(next(self.batches))
        labels, _ = batch.pop("labels"), batch.pop("owner")
        (logits,) = self.model(**batch).values()
        point(logits, labels).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return len(labels)

    def padding(self) -> float:
        """Share of an epoch's computed tokens that are padding."""
        lengths = self.examples.encoded.lengths
        computed = sum(len(rows) * lengths[rows].max() for rows in self.plan.epoch(0))
        return 1 - float(lengths.sum()) / float(computed)


if __name__ == "__main__":
    main()
