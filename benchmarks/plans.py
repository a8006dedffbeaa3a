"""What plans cost and save on lists as they are: every list is ranked by each plan in turn.

    python benchmarks/plans.py runs/ct-int8 rest.jsonl --drop 0 --drop own --drop 0.8,0,0,0.3,0.5 --longest 40

`own` is the plan that is saved with the ranker. `cascada bench` times every engine on one list; what a plan of margins
drops depends on the question, so that it takes many lists to say how long it takes.
"""

from __future__ import annotations

import argparse
import statistics
import time

from tables import markdown

from cascada import Ranker, evaluate
from cascada.data import Group, load


def ratios(drop: str) -> float | list[float] | None:
    """What `Ranker.rank` takes as `drop`."""
    if drop == "own":
        return None
    parts = [float(part) for part in drop.split(",")]
    return parts[0] if len(parts) == 1 else parts


def figures(ranker: Ranker, groups: list[Group], drops: list[str]) -> list[dict[str, object]]:
    """A row for each plan: mean seconds, ratio to the first, relative cost and MAP."""
    seconds: dict[str, list[float]] = {drop: [] for drop in drops}
    costs: dict[str, list[float]] = {drop: [] for drop in drops}
    runs: dict[str, dict[str, dict[str, float]]] = {drop: {} for drop in drops}
    ranker.rank(groups[0].question, groups[0].texts)  # a warm-up
    for group in groups:
        for drop in drops:
            start = time.perf_counter()
            ranking = ranker.rank(group.question, group.texts, drop=ratios(drop))
            seconds[drop].append(time.perf_counter() - start)
            costs[drop].append(ranking.relative_cost)
            places = {item.index: -float(rank) for rank, item in enumerate(ranking)}
            runs[drop][str(group.id)] = {
                str(candidate.id): places[index] for index, candidate in enumerate(group.candidates)
            }
    first = statistics.fmean(seconds[drops[0]])
    rows: list[dict[str, object]] = []
    for drop in drops:
        mean = statistics.fmean(seconds[drop])
        quality = evaluate(runs[drop], groups, mode="raw", measures=["MAP"]).measures["MAP"]
        cost = statistics.fmean(costs[drop])
        rows.append({"drop": drop, "seconds": mean, "faster": first / mean, "cost": cost, "MAP": quality})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("lists")
    parser.add_argument("--drop", action="append", required=True, help="0, own, or ratios; may be repeated")
    parser.add_argument("--longest", type=int, help="only so many of the lists, the longest")
    options = parser.parse_args()
    groups = sorted(load(options.lists, mode="raw"), key=lambda group: -len(group.candidates))[: options.longest]
    candidates = statistics.fmean(len(group.candidates) for group in groups)
    print(f"{len(groups)} lists of {candidates:.0f} candidates on average\n")
    names = {"drop": "drop", "seconds": "seconds", "faster": f"× {options.drop[0]}", "cost": "cost", "MAP": "MAP"}
    print(markdown(figures(Ranker.load(options.model), groups, options.drop), names))


if __name__ == "__main__":
    main()
