"""Quality and speed of a cascade with exit 0, in one run: what its drops cost, and how fast they make it beside peers.

    python benchmarks/headline.py runs/ct --tune squad.jsonl trecqa.jsonl --peers peers/bin/python --out headline

Of every file, questions with `--at-least` candidates are split in two. The plan, `--loss` being what it may lose on
every file, is chosen on the first part and reported on the second, beside the same ranker with nobody dropped. Then
`cascada bench` times that plan, and the peers, on the same weights.
"""

from __future__ import annotations

import argparse
import json
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np

from cascada import Ranker
from cascada.bench.engines import ENGINES, Engine
from cascada.bench.measure import MeasuringPlan
from cascada.bench.run import Bench
from cascada.data import Group, load
from cascada.ranking.plan import Plan, drop_plan
from cascada.ranking.tuning import ExitScores, collect, replay
from cascada.systems.export import export

FIRST = (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
LATER = (0.0, 0.3, 0.5, 0.7)


def parts(path: str, at_least: int, tuned: int, reported: int) -> tuple[list[Group], list[Group]]:
    """Questions to choose the plan on, and others to report."""
    groups = [group for group in load(path, mode="clean") if len(group.candidates) >= at_least]
    shuffled = [groups[place] for place in np.random.default_rng(0).permutation(len(groups))]
    tuned = min(tuned, len(groups) // 2)
    return shuffled[:tuned], shuffled[tuned : tuned + reported]


def chosen(tuned: list[ExitScores], loss: float) -> Plan:
    """The cheapest plan that loses at most `loss` MAP on every set."""
    exits = len(tuned[0].exits)
    ratios = product(FIRST, *[LATER] * (exits - 2))
    plans = [drop_plan(0, exits), *(tuple(Decimal(str(ratio)) for ratio in row) for row in ratios)]
    cost, allowed = np.zeros(len(plans)), np.ones(len(plans), bool)
    for scores in tuned:
        figures = replay(scores, plans, ["MAP"])
        cost += figures.columns["relative_cost"]
        allowed &= figures.columns["MAP"] >= figures.columns["MAP"][0] - loss
    return plans[int(np.argmin(np.where(allowed, cost, np.inf)))]


def quality(scores: ExitScores, plan: Plan) -> dict[str, float]:
    """MAP with nobody dropped and with the plan, the standard error of the difference, and the relative cost."""
    figures = replay(scores, [drop_plan(0, len(scores.exits)), plan], ["MAP"])
    full, own = figures.row(0), figures.row(1)
    error = float(figures.standard_error("MAP", full["MAP"])[1])
    candidates = float(np.mean([question.candidates for question in scores.questions]))
    return {"questions": figures.questions, "candidates": candidates, "full": full["MAP"], "MAP": own["MAP"]} | {
        "loss": full["MAP"] - own["MAP"],
        "error": error,
        "cost": own["relative_cost"],
    }


def speed(model: str, plan: Plan, options: argparse.Namespace) -> dict[str, object]:
    """The report of `cascada bench` with the plan beside the peers."""
    own = Engine("cascada int8 plan", "cascada", "int8", ("cascada", "onnxruntime"), {"drop": list(map(float, plan))})
    names = ("sentence-transformers", "cascada int8 α=0")
    engines = [engine for engine in ENGINES if engine.name.startswith(names) and "α=0." not in engine.name]
    measured = MeasuringPlan((options.candidates,), options.repeats, options.seconds)
    return Bench(model, [*engines, own], measured, options.peers, 0, starts=1, on_progress=print).run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a trained cascade with exit 0")
    parser.add_argument("--tune", nargs="+", required=True, help="data sets with long lists")
    parser.add_argument("--at-least", type=int, default=100)
    parser.add_argument(
        "--tuned", type=int, default=40, help="questions of each set that the plan is chosen on, half of them at most"
    )
    parser.add_argument("--reported", type=int, default=200)
    parser.add_argument("--loss", type=float, default=0.005)
    parser.add_argument("--candidates", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--peers")
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the export and the results")
    options = parser.parse_args()
    exported = options.out / "int8"
    export(Path(options.model), exported, "int8")
    ranker = Ranker.load(exported)
    sets = [parts(path, options.at_least, options.tuned, options.reported) for path in options.tune]
    plan = chosen([collect(ranker, first) for first, _ in sets], options.loss)
    print("plan", *plan, flush=True)
    report: dict[str, object] = {"plan": list(map(str, plan)), "quality": {}}
    report["speed"] = speed(options.model, plan, options)
    (options.out / "headline.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    for path, (_, second) in zip(options.tune, sets, strict=True):
        row = quality(collect(ranker, second), plan)
        report["quality"][path] = row  # type: ignore[index]
        print(path, {name: round(value, 4) for name, value in row.items()}, flush=True)
        (options.out / "headline.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
