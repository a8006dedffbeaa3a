"""Ranking 400 candidates: the torch engine against sentence-transformers' CrossEncoder on the same encoder weights.

    python benchmarks/rank.py MODEL DATA_ROOT [--candidates 400] [--repeats 7]

MODEL is a ranker's folder whose encoder is a BERT. Its encoder weights are laid out once more as the peer expects them,
so that both run the same layers on the same token ids; only the heads differ (the peer's has fewer weights). The
candidates are those of the TREC-QA training question that has the most. Both are timed in turn; medians are compared.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from sentence_transformers import CrossEncoder
from transformers import BertForSequenceClassification

from cascada import Ranker
from cascada.data import load
from cascada.models import checkpoint


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("root", help="TREC-QA's folder")
    parser.add_argument("--candidates", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    group = max(load("trecqa", root=options.root, split="train-all"), key=lambda group: len(group.candidates))
    question, texts = group.question, list(group.texts[: options.candidates])
    ranker = Ranker.load(options.model)
    peer = cross_encoder(Path(options.model))
    pairs = [(question, text) for text in texts]
    ways = {
        "cascada torch": lambda: ranker.score(question, texts),
        "sentence-transformers": lambda: peer.predict(pairs),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for repeat in range(options.repeats + 1):
        for name, run in ways.items():
            started = time.perf_counter()
            run()
            if repeat:  # the first time warms up
                times[name].append(time.perf_counter() - started)
    medians = {name: round(statistics.median(values), 3) for name, values in times.items()}
    ratio = medians["sentence-transformers"] / medians["cascada torch"]
    tokens = float(np.mean(ranker.stages[0].tokenizer.encode([question], texts, [0] * len(texts)).lengths))
    found = {
        "candidates": len(texts),
        "tokens on average": round(tokens, 1),
        "seconds": medians,
        "ratio": round(ratio, 2),
    }
    print(json.dumps(found, indent=2))


def cross_encoder(folder: Path) -> CrossEncoder:
    """The folder's encoder weights under the peer's own classification head."""
    model = checkpoint.load(folder)
    peer = BertForSequenceClassification(model.encoder.config)
    peer.bert.load_state_dict(model.encoder.encoder.state_dict(), strict=False)  # all but the pooler
    with tempfile.TemporaryDirectory() as work:
        peer.save_pretrained(work)
        for name in checkpoint.TOKENIZER_FILES:
            if (folder / name).exists():
                shutil.copy(folder / name, work)
        return CrossEncoder(work, max_length=model.shape.max_length, device="cpu")


if __name__ == "__main__":
    main()
