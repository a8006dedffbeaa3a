"""What a collection of documents and a rate of questions need, from measured figures: cores, machines, disk, network.

    python benchmarks/capacity.py benchmarks/capacity-sentences.json --documents 1e8 --questions 1000

`benchmarks/capacity_measure.py` makes the file. The arithmetic is in `needs`; docs/capacity.md explains it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from tables import markdown

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


def rankers(measured: dict[str, Any], wanted: Wanted) -> Iterator[dict[str, str]]:
    """A row for each ranker, with documents in int8 where it keeps them."""
    for row in measured["rankers"]:
        store = measured["stores"].get(row["store"])
        cost = cost_of(row, store["bytes"]["int8"]["disk"] if store else 0)
        found = needs(cost, wanted)
        yield {
            "": row["ranker"],
            "a question": f"{1000 * cost.question:.1f} ms",
            "a candidate": f"{1000 * cost.candidate:.2f} ms",
            "core-seconds": f"{found.core_seconds:.3f}",
            "cores": f"{found.cores:,}",
            "shards": f"{found.shards}",
            "machines": f"{found.machines:,}",
            "reads a second": f"{found.reads:,.0f}" if store else "",
        }


def storage(measured: dict[str, Any], wanted: Wanted) -> Iterator[dict[str, str]]:
    """A row for each number format: what all documents take, once, and what reading them over a network would."""
    store = next(iter(measured["stores"].values()))
    text = measured["texts"]["bytes"]
    for form, taken in (*store["bytes"].items(), ("text", {"entry": text, "disk": text})):
        sent = 8 * wanted.questions * wanted.candidates * taken["entry"]
        yield {
            "": "the text itself" if form == "text" else f"`{form}`",
            "bytes a document": f"{taken['entry']:,.0f}",
            "on disk": f"{taken['disk']:,.0f}",
            "all documents": f"{wanted.documents * taken['disk'] / 1e12:.2f} TB",
            "over a network": f"{sent / 1e9:.1f} Gbit/s",
        }


def encoding(measured: dict[str, Any], wanted: Wanted) -> Iterator[dict[str, str]]:
    """A row for each store: what encoding every document once takes."""
    for name, store in measured["stores"].items():
        days = wanted.documents * store["encode_seconds"] / 86_400
        yield {
            "": name,
            "a document": f"{1000 * store['encode_seconds']:.1f} ms",
            "all documents": f"{days:,.0f} core-days",
        }


def tables(measured: dict[str, Any], wanted: Wanted) -> str:
    """Those three, in Markdown."""
    found = (list(rows(measured, wanted)) for rows in (rankers, storage, encoding))
    return "\n\n".join(markdown(rows, {name: name for name in rows[0]}) for rows in found)


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
