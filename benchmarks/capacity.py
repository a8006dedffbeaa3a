"""What a collection of documents and a rate of questions need, from measured figures: cores, machines, disk, network.

    python benchmarks/capacity.py benchmarks/capacity-sentences.json --documents 1e8 --questions 1000

`benchmarks/capacity_measure.py` makes the file. The arithmetic is in `needs`; docs/capacity.md explains it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

FEW, MANY = 10, 100
"""Candidates that the measured times are for."""


@dataclass(frozen=True)
class Wanted:
    """What is asked for, and of which machines."""

    documents: float = 1e8
    questions: float = 1000
    """A second."""
    candidates: int = 100
    """Of a question."""
    busy: float = 0.6
    """The share of the time that a core may work; the rest is for questions that do not come evenly."""
    cores: int = 32
    """Of a machine."""
    disk: float = 4e12
    """Bytes that a machine has for documents."""
    copies: int = 2
    """Machines that have each document, so that one may fail."""


@dataclass(frozen=True)
class Cost:
    """Of one kind of ranker."""

    question: float
    """Core-seconds once a question, on each machine that ranks candidates for it."""
    candidate: float
    """Core-seconds for each candidate."""
    stored: float = 0
    """Bytes of a document on disk; 0 for a ranker that keeps nothing."""


@dataclass(frozen=True)
class Needs:
    shards: int
    """Parts that the documents are cut into, one to a machine."""
    asked: float
    """Shards that have candidates of a question, on average."""
    core_seconds: float
    """Of a question."""
    cores: int
    machines: int
    disk: float
    """Bytes, all copies together."""
    reads: float
    """Documents that a machine reads from its disk or its memory in a second."""


def needs(cost: Cost, wanted: Wanted) -> Needs:
    """Documents are spread over the shards by a hash, so a question's candidates are, too."""
    shards = max(1, ceil(wanted.documents * cost.stored / wanted.disk))
    asked = shards * (1 - (1 - 1 / shards) ** wanted.candidates)
    core_seconds = asked * cost.question + wanted.candidates * cost.candidate
    cores = ceil(wanted.questions * core_seconds / wanted.busy)
    machines = shards * max(wanted.copies, ceil(cores / (shards * wanted.cores)))
    kept = wanted.documents * cost.stored * (machines / shards)
    reads = wanted.questions * wanted.candidates / machines if cost.stored else 0.0
    return Needs(shards, asked, core_seconds, cores, machines, kept, reads)


def cost_of(row: dict[str, Any], stored: float) -> Cost:
    """The line through the two measured times; what is left at no candidates is the question's own."""
    candidate = (row[str(MANY)] - row[str(FEW)]) / (MANY - FEW)
    return Cost(max(0.0, row[str(FEW)] - FEW * candidate), candidate, stored)


def rankers_table(measured: dict[str, Any], wanted: Wanted) -> list[list[str]]:
    """A row for each ranker, with documents in int8 where it keeps them."""
    rows = [["", "a question", "a candidate", "core-seconds", "cores", "shards", "machines", "reads a second"]]
    for row in measured["rankers"]:
        store = measured["stores"].get(row["store"])
        cost = cost_of(row, store["bytes"]["int8"]["disk"] if store else 0)
        found = needs(cost, wanted)
        rows.append(
            [
                row["ranker"],
                f"{1000 * cost.question:.1f} ms",
                f"{1000 * cost.candidate:.2f} ms",
                f"{found.core_seconds:.3f}",
                f"{found.cores:,}",
                f"{found.shards}",
                f"{found.machines:,}",
                f"{found.reads:,.0f}" if store else "",
            ]
        )
    return rows


def storage_table(measured: dict[str, Any], wanted: Wanted) -> list[list[str]]:
    """A row for each number format: what all documents take, once, and what reading them over a network would."""
    rows = [["", "bytes a document", "on disk", "all documents", "over a network"]]
    store = next(iter(measured["stores"].values()))
    for form, taken in store["bytes"].items():
        sent = wanted.questions * wanted.candidates * taken["entry"]
        rows.append(
            [
                f"`{form}`",
                f"{taken['entry']:,.0f}",
                f"{taken['disk']:,.0f}",
                f"{wanted.documents * taken['disk'] / 1e12:.1f} TB",
                f"{8 * sent / 1e9:,.0f} Gbit/s",
            ]
        )
    text = measured["texts"]["bytes"]
    sent = wanted.questions * wanted.candidates * text
    row = [
        "the text itself",
        f"{text:,.0f}",
        "",
        f"{wanted.documents * text / 1e12:.2f} TB",
        f"{8 * sent / 1e9:.2f} Gbit/s",
    ]
    return [*rows, row]


def encoding_table(measured: dict[str, Any], wanted: Wanted) -> list[list[str]]:
    """A row for each store: what encoding every document once takes."""
    rows = [["", "a document", "all documents"]]
    for name, store in measured["stores"].items():
        days = wanted.documents * store["encode_seconds"] / 86_400
        rows.append([name, f"{1000 * store['encode_seconds']:.1f} ms", f"{days:,.0f} core-days"])
    return rows


def markdown(rows: list[list[str]]) -> str:
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *rest])


def tables(measured: dict[str, Any], wanted: Wanted) -> str:
    return "\n\n".join(markdown(make(measured, wanted)) for make in (rankers_table, storage_table, encoding_table))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path)
    for name, default in vars(Wanted()).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    options = vars(parser.parse_args())
    measured = json.loads(options.pop("measured").read_text(encoding="utf-8"))
    print(tables(measured, Wanted(**options)))


if __name__ == "__main__":
    main()
