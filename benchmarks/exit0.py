"""How much of a list exit 0 can drop before the first layer runs, and what that costs in quality and time.

    python benchmarks/exit0.py runs/with-exit-0 trecqa --root TRECQA --split train-all --mode clean --at-least 100

ranks every question once, to the end, and replays drop ratios of exit 0; no other exit drops. It prints the figures of
each ratio, then the time of exit 0 and of the whole ranking on the longest list.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from decimal import Decimal

from cascada import Ranker
from cascada.data import Group, load
from cascada.data.sample import evenly_spaced
from cascada.ranking.tuning import collect, replay

RATIOS = "0,0.3,0.5,0.6,0.7,0.8,0.9"
MEASURES = ("MAP", "nDCG@10", "P@1")


def rows(ranker: Ranker, groups: list[Group], ratios: list[Decimal]) -> list[dict[str, float]]:
    """The figures of each ratio."""
    scores = collect(ranker, groups)
    rest = (Decimal(0),) * (len(ranker.exits) - 2)
    figures = replay(scores, [(ratio, *rest) for ratio in ratios], MEASURES)
    return [{"drop": float(ratio), **figures.row(place)} for place, ratio in enumerate(ratios)]


def times(ranker: Ranker, group: Group, repeats: int) -> dict[str, float]:
    """Median seconds of exit 0, and of ranking without drops, on the candidates of one question."""
    first, whole = [], []
    for _ in range(repeats):
        started = time.perf_counter()
        ranking = ranker.rank(group.question, group.texts, drop=0)
        whole.append(time.perf_counter() - started)
        first.append(ranking.stages[0].seconds)
    return {"candidates": len(group.texts), "exit 0": statistics.median(first), "all": statistics.median(whole)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a ranker with exit 0")
    parser.add_argument("data")
    parser.add_argument("--root")
    parser.add_argument("--split")
    parser.add_argument("--mode", default="clean")
    parser.add_argument("--at-least", type=int, default=0, help="only questions with this many candidates")
    parser.add_argument("--questions", type=int, help="at most so many of them, spread over the data")
    parser.add_argument("--ratios", default=RATIOS, help="drop ratios of exit 0")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    groups = load(options.data, root=options.root, split=options.split, mode=options.mode)
    groups = [group for group in groups if len(group.candidates) >= options.at_least]
    groups = evenly_spaced(groups, options.questions)
    ranker = Ranker.load(options.model)
    table = rows(ranker, groups, [Decimal(ratio) for ratio in options.ratios.split(",")])
    longest = times(ranker, max(groups, key=lambda group: len(group.candidates)), options.repeats)
    if options.json:
        print(json.dumps({"questions": len(groups), "rows": table, "times": longest}))
        return
    mean = statistics.fmean(len(group.candidates) for group in groups)
    print(f"{len(groups)} questions, {mean:.0f} candidates on average")
    print(f"{'drop':>6} {'MAP':>8} {'nDCG@10':>8} {'P@1':>8} {'cost':>8}")
    for row in table:
        print(f"{row['drop']:6.2f} " + " ".join(f"{row[name]:8.4f}" for name in (*MEASURES, "relative_cost")))
    share = longest["exit 0"] / longest["all"]
    print(
        f"{longest['candidates']} candidates: exit 0 {longest['exit 0']:.3f} s of {longest['all']:.3f} s ({share:.1%})"
    )


if __name__ == "__main__":
    main()
