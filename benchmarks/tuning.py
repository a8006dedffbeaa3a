"""How long tuning takes: the paper's grid and the default one, replayed on scores that are made up.

    python benchmarks/tuning.py [--picture front.png]

No model is run. Five exits; each tells the correct candidates apart better than the one before. Seconds are those of
the processor, so that other work on the machine does not show.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from cascada.ranking.tuning import (
    PAPER,
    ExitScores,
    ScoredQuestion,
    default_grid,
    grid_of,
    replay,
    tune,
    tune_keeping_best,
    within_loss,
)
from cascada.ranking.tuning.picture import draw

EXITS, LAYERS = (4, 6, 8, 10, 12), (4, 2, 2, 2, 2)
CLEAR = np.array([1.0, 1.7, 2.2, 2.5, 2.7])[:, None]  # how far correct candidates stand out at each exit
NOISE = np.array([1.0, 0.8, 0.6, 0.5, 0.45])[:, None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    tune_keeping_best(made_up(60, 3), grid_of([0], 5), at_least=0.9, confidence=0.9)  # imports are not timed
    results = {}
    for questions, candidates in ((237, 10), (200, 100)):
        scores, paper, default = made_up(questions, candidates), grid_of(PAPER, 5), default_grid(5)
        results[f"{questions} questions of {candidates}"] = {
            f"{len(paper):,} settings": seconds(lambda s=scores, p=paper: replay(s, p)),
            f"{len(default):,} settings": seconds(lambda s=scores, p=default: replay(s, p)),
            "keep counts": seconds(lambda s=scores, p=paper: tune_keeping_best(s, p[:1], at_least=0.9, confidence=0.9)),
        }
    print(json.dumps(results, indent=2))
    if options.picture:
        tuning = tune(made_up(200, 60), default_grid(5), within_loss(0.01, "MAP"))
        draw(replace(tuning, title="simulated scores"), options.picture)


def made_up(questions: int, candidates: int, seed: int = 0) -> ExitScores:
    chance = np.random.default_rng(seed)
    scored = []
    for number in range(questions):
        labels = (chance.random(candidates) < 1.3 / candidates).astype(np.int64)
        labels[chance.integers(candidates)] = 1
        shared = 0.7 * chance.normal(size=candidates)
        scores = CLEAR * labels + shared + NOISE * chance.normal(size=(len(EXITS), candidates))
        ids = tuple(f"{number}-{place}" for place in range(candidates))
        scored.append(ScoredQuestion(scores.astype(np.float32), labels, ids))
    return ExitScores(EXITS, LAYERS, sum(LAYERS), tuple(scored))


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return round(time.process_time() - started, 2)


if __name__ == "__main__":
    main()
