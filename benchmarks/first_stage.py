"""A cheap first stage in front of a cascade: its cost and its loss of quality.

    python benchmarks/first_stage.py CASCADE --first COMPARE_AGGREGATE --first bm25 wikiqa --root WIKIQA --split test

`gigaflops` is the average per question, including the first stage; `cost` is relative to running every candidate
through the whole cascade, the first row. `dropped` is the share of the candidates that the first stage drops; each exit
of the cascade drops the share that `--drop` says.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tables import markdown

from cascada.cli.progress import progress
from cascada.data import Group, load, qrels
from cascada.metrics import evaluate
from cascada.ranking import Ranker
from cascada.ranking.inputs import RankOptions
from cascada.ranking.result import Ranking
from cascada.ranking.runs import run_of

MEASURES = ("MAP", "P@1", "MRR")


def measures(ranker: Ranker, groups: Sequence[Group], drop: Sequence[float]) -> dict[str, float]:
    rankings: list[Ranking] = []
    options = RankOptions.of(drop=list(drop))
    run = run_of(ranker, groups, options, on_ranking=lambda _, ranking: rankings.append(ranking))
    mean = evaluate(run, qrels(groups), MEASURES).mean
    gigaflops = sum(ranking.flops for ranking in rankings) / len(rankings) / 1e9
    return {"gigaflops": gigaflops, **{name: mean[name] for name in MEASURES}}


def rows(
    cascade: str, firsts: Sequence[str], shares: Sequence[float], drop: float, groups: Sequence[Group]
) -> Iterator[dict[str, Any]]:
    alone = Ranker.load(cascade)
    inside = [drop] * (len(alone.exits) - 1)
    yield {"ranker": "cascade", "dropped": 0.0, **measures(alone, groups, [0.0] * len(inside))}
    if drop:
        yield {"ranker": f"cascade, drop {drop:g}", "dropped": 0.0, **measures(alone, groups, inside)}
    for first in firsts:
        ranker = Ranker.load(f"{first}+{cascade}")
        for share in shares:
            name = f"{Path(first).name} + cascade" + (f", drop {drop:g}" if drop else "")
            yield {"ranker": name, "dropped": share, **measures(ranker, groups, [share, *inside])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cascade")
    parser.add_argument("data")
    parser.add_argument("--first", action="append", required=True, help="a ranker for the first stage; may be repeated")
    parser.add_argument(
        "--dropped", default="0.3,0.5,0.7", help="shares of the candidates that it drops, separated by commas"
    )
    parser.add_argument("--drop", type=float, default=0.0, help="share dropped at each exit of the cascade")
    parser.add_argument("--root")
    parser.add_argument("--split")
    parser.add_argument("--mode", default="clean")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    groups = load(options.data, root=options.root, split=options.split, mode=options.mode)
    shares = [float(share) for share in options.dropped.split(",")]
    settings = 1 + bool(options.drop) + len(options.first) * len(shares)
    table: list[dict[str, Any]] = []
    with progress("ranking", total=settings) as advance:
        for row in rows(options.cascade, options.first, shares, options.drop, groups):
            table.append({**row, "cost": row["gigaflops"] / (table or [row])[0]["gigaflops"]})
            advance(1)
    print(json.dumps(table, indent=1) if options.json else markdown(table, {name: name for name in table[0]}))


if __name__ == "__main__":
    main()
