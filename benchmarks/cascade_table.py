"""Monolithic models, the sequential ranker and the cascade side by side: Table 3 of the Cascade Transformer's paper.

    python benchmarks/cascade_table.py CASCADE MT-4+MT-6+MT-8+MT-10+MT-12 wikiqa --root WIKIQA

Every model runs once over the data; what a drop ratio does is replayed from the scores. Cost is relative to running the
last monolithic model on every candidate, as the mean over the questions. CT-n is the cascade if everyone stops at the
exit after n layers.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from tables import markdown

from cascada.cli.progress import progress
from cascada.data import Group, load
from cascada.ranking import Ranker
from cascada.ranking.tuning import ExitScores, collect, replay

MEASURES = ("MAP", "nDCG@10", "P@1", "MRR")
COLUMNS = {"model": "model", "drop": "drop", "relative_cost": "cost"} | {name: name for name in MEASURES}
DROPS = ("0.3", "0.4", "0.5")


def scored(model: str, groups: list[Group]) -> ExitScores:
    with progress(f"ranking with {Path(model).name}", total=sum(len(group.candidates) for group in groups)) as advance:
        return collect(Ranker.load(model), groups, advance=advance)


def alone(scores: ExitScores, place: int, layers: int) -> ExitScores:
    """One exit, as a model that everyone is run through."""
    questions = tuple(replace(one, scores=one.scores[[place]]) for one in scores.questions)
    return replace(scores, exits=(scores.exits[place],), layers=(layers,), questions=questions)


def figures(scores: ExitScores, drop: str = "0") -> dict[str, float]:
    plan = (Decimal(drop),) * (len(scores.exits) - 1)
    return replay(scores, [plan], MEASURES).row(0)


def rows(cascade: ExitScores, sequential: ExitScores) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for place, layers in enumerate(sequential.layers):
        found.append({"model": f"MT-{layers}", "drop": "", **figures(alone(sequential, place, layers))})
    found += [{"model": "SR", "drop": drop, **figures(sequential, drop)} for drop in DROPS]
    for place, layers in enumerate(cascade.exits[:-1]):
        found.append({"model": f"CT-{layers}", "drop": "", **figures(alone(cascade, place, layers))})
    found += [{"model": "CT", "drop": drop, **figures(cascade, drop)} for drop in ("0", *DROPS)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cascade")
    parser.add_argument("monolithic", help="folders with + between them, the smallest first")
    parser.add_argument("data")
    parser.add_argument("--root")
    parser.add_argument("--split")
    parser.add_argument("--mode", default="clean")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    groups = load(options.data, root=options.root, split=options.split, mode=options.mode)
    found = rows(scored(options.cascade, groups), scored(options.monolithic, groups))
    print(json.dumps(found, indent=1) if options.json else markdown(found, COLUMNS))


if __name__ == "__main__":
    main()
