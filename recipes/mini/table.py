"""Rankers on the development sets of the bundled model, side by side.

    python recipes/mini/table.py data/mini/dev cascada-mini cascada-mini@0 bm25 cosine:ENCODER late:ENCODER

prints nDCG@10 of the two sets with grades, and MAP of the others. `MODEL@0` ranks without drops, `MODEL@0.5` drops half
of the candidates at every exit, and MODEL by its own plan. The cost is what the ranker counts, averaged over the sets.
`--prior 1` adds the first stage's ranking, which is the order of the candidates in a list.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cascada import Ranker, evaluate
from cascada.data import Group, load
from cascada.data.sample import evenly_spaced
from cascada.training.precision import products_in

ORDER = (
    "dl21-bm25",
    "dl21-splade",
    "insuranceqa",
    "selqa",
    "trecqa",
    "trecqa-long",
    "wikiqa",
    "tydi",
    "stackexchange",
)


def ranked(name: str, groups: Sequence[Group], prior: float) -> tuple[dict[str, dict[str, float]], float]:
    """The scores of all candidates, as a TREC run, and the mean relative cost."""
    model, _, drop = name.partition("@")
    ranker = Ranker.load(model)
    run, costs = {}, []
    for group in groups:
        ranking = ranker.rank(group.question, group.texts, drop=float(drop) if drop else None)
        place = {item.index: -float(rank) for rank, item in enumerate(ranking)}  # the order is the result
        if prior:
            place = with_prior({item.index: item.raw_score for item in ranking}, prior)
        run[str(group.id)] = {str(group.candidates[index].id): score for index, score in place.items()}
        costs.append(ranking.relative_cost)
    return run, statistics.fmean(costs)


def with_prior(scores: dict[int, float], weight: float) -> dict[int, float]:
    """Standardised scores, plus the standardised logarithm of the place in the list."""
    order = sorted(scores)
    own = np.array([scores[index] for index in order])
    first_stage = -np.log1p(np.arange(len(order)))
    both = [(part - part.mean()) / max(float(part.std()), 1e-9) for part in (own, first_stage)]
    return dict(zip(order, (both[0] + weight * both[1]).tolist(), strict=True))


def figure(groups: Sequence[Group], run: dict[str, dict[str, float]], qrels: Path | None) -> float:
    """nDCG@10 by grades if the qrels are given, else MAP."""
    measure = "MAP" if qrels is None else "nDCG@10"
    return evaluate(run, groups, mode="raw", qrels=qrels, measures=[measure]).measures[measure]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, help="the folder that dev_sets.py wrote")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--qrels", type=Path, default=Path("data/trec_dl21/qrels.txt"))
    parser.add_argument("--only", nargs="+", default=ORDER, choices=ORDER)
    parser.add_argument("--questions", type=int, help="at most so many of each set, spread over it")
    parser.add_argument("--prior", type=float, default=0.0)
    parser.add_argument("--bfloat16", action="store_true", help="products of encoders in torch in 16 bits")
    options = parser.parse_args()
    with products_in("bfloat16" if options.bfloat16 else "float32"):
        print_table(options)


def print_table(options: argparse.Namespace) -> None:
    width = max(map(len, options.models))
    print(" " * width, *(f"{name:>13}" for name in options.only), f"{'cost':>6}")
    for model in options.models:
        figures, costs = [], []
        for name in options.only:
            groups = evenly_spaced(load(str(options.sets / f"{name}.jsonl"), mode="raw"), options.questions)
            run, cost = ranked(model, groups, options.prior)
            figures.append(figure(groups, run, options.qrels if name.startswith("dl21") else None))
            costs.append(cost)
        print(
            f"{model:{width}}", *(f"{value:13.4f}" for value in figures), f"{statistics.fmean(costs):6.2f}", flush=True
        )


if __name__ == "__main__":
    main()
