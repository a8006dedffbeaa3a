"""Which margins lose least on the worst of several sets, at a limited cost; from scores that `cascada tune` has saved.

    cascada tune models/ct tune.jsonl --mode raw --scores tune.npz
    python benchmarks/margins.py models/ct tune.jsonl=tune.npz other.jsonl=other.npz --most 0.25 --at-least 20,12 \\
        --margins 1.2,1.6,2,3 --margins 3,5,99

`--margins` names those to try, once for each exit before the last; `--share 0.6` is what the first of them, exit 0,
drops in any case. `cascada tune --margins` chooses margins by how often the best candidate survives; here MAP decides.
"""

from __future__ import annotations

import argparse
import itertools
from decimal import Decimal
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.data import load
from cascada.ranking.plan import Margin, Plan, drop_plan, margin_plan
from cascada.ranking.tuning import ExitScores, replay
from cascada.ranking.tuning.scores_file import load_scores
from cascada.systems.load import model_digest


def plans(margins: list[str], at_least: list[int], share: float, stages: int) -> list[Plan]:
    """Every combination of one margin per exit. `at_least` is how many candidates stay at each exit in any case,
    `share` what the first exit drops in any case.
    """
    grid = itertools.product(*([Decimal(margin) for margin in row.split(",")] for row in margins))
    shares = [share, *[0.0] * (len(margins) - 1)]
    return [margin_plan(row, stages, at_least, shares) for row in grid]


def worst(tried: list[Plan], sets: list[ExitScores]) -> tuple[list[float], list[float]]:
    """The largest relative cost of each plan on any of the sets, and the largest loss of MAP."""
    costs, losses = [0.0] * len(tried), [float("-inf")] * len(tried)
    for scores in sets:
        figures = replay(scores, [*tried, drop_plan(0, len(scores.exits))], ("MAP",))
        full = figures.row(len(tried))["MAP"]
        for place in range(len(tried)):
            row = figures.row(place)
            costs[place] = max(costs[place], row["relative_cost"])
            losses[place] = max(losses[place], full - row["MAP"])
    return costs, losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("sets", nargs="+", metavar="LISTS=SCORES")
    parser.add_argument("--margins", action="append", required=True, help="of raw scores, to try at an exit: 1.2,1.6,2")
    parser.add_argument("--at-least", required=True, help="how many candidates stay at each exit: 20,12,8")
    parser.add_argument("--most", type=float, default=0.25, help="the largest relative cost on any set")
    parser.add_argument("--share", type=float, default=0.0, help="what the first exit drops in any case: 0.6")
    options = parser.parse_args()
    at_least = [int(least) for least in options.at_least.split(",")]
    if len(at_least) != len(options.margins):
        parser.error(f"--at-least has {len(at_least)} numbers, --margins is given {len(options.margins)} times.")
    digest = model_digest(options.model, None)
    pairs = [name.rpartition("=") for name in options.sets]
    sets = [load_scores(Path(scores), digest, load(lists, mode="raw")) for lists, _, scores in pairs]
    try:
        tried = plans(options.margins, at_least, options.share, len(sets[0].exits))
    except CascadaError as error:
        parser.error(str(error))
    costs, losses = worst(tried, sets)
    within = [place for place in range(len(tried)) if costs[place] <= options.most]
    if not within:
        parser.error(f"every plan costs more than {options.most} on one of the sets.")
    best = min(within, key=lambda place: (losses[place], costs[place]))
    margins = ", ".join(str(rule.margin) for rule in tried[best] if isinstance(rule, Margin))
    print(f"{len(tried):,} tried: margins {margins}")
    print(f"MAP falls by {losses[best]:.4f} at most, at a relative cost of {costs[best]:.3f} at most")


if __name__ == "__main__":
    main()
