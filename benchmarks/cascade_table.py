"""Compare monolithic models, the sequential ranker and the cascade: Table 3 of the Cascade Transformer paper.

    python benchmarks/cascade_table.py CASCADE MT-4+MT-6+MT-8+MT-10+MT-12 wikiqa --root WIKIQA

Every model runs once over the data; drop ratios are replayed on its scores. Cost is relative to running the last
monolithic model on every candidate, averaged over the questions. CT-n is the cascade stopped at its exit after layer n.
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


def single_exit(scores: ExitScores, exit: int, layers: int) -> ExitScores:
    """One exit, as a model that scores every candidate."""
    questions = tuple(replace(question, scores=question.scores[[exit]]) for question in scores.questions)
    return replace(scores, exits=(scores.exits[exit],), layers=(layers,), questions=questions)


def measures(scores: ExitScores, drop: str = "0") -> dict[str, float]:
    plan = (Decimal(drop),) * (len(scores.exits) - 1)
    return replay(scores, [plan], MEASURES).row(0)


def rows(cascade: ExitScores, sequential: ExitScores) -> list[dict[str, object]]:
    table: list[dict[str, object]] = []
    for exit, layers in enumerate(sequential.layers):
        table.append({"model": f"MT-{layers}", "drop": "", **measures(single_exit(sequential, exit, layers))})
    table += [{"model": "SR", "drop": drop, **measures(sequential, drop)} for drop in DROPS]
    for exit, layers in enumerate(cascade.exits[:-1]):
        table.append({"model": f"CT-{layers}", "drop": "", **measures(single_exit(cascade, exit, layers))})
    table += [{"model": "CT", "drop": drop, **measures(cascade, drop)} for drop in ("0", *DROPS)]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cascade")
    parser.add_argument("monolithic", help="folders separated by +, the smallest model first")
    parser.add_argument("data")
    parser.add_argument("--root")
    parser.add_argument("--split")
    parser.add_argument("--mode", default="clean")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    groups = load(options.data, root=options.root, split=options.split, mode=options.mode)
    table = rows(scored(options.cascade, groups), scored(options.monolithic, groups))
    print(json.dumps(table, indent=1) if options.json else markdown(table, COLUMNS))


if __name__ == "__main__":
    main()
