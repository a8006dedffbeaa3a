"""Plan capacity from measurements: the cores, machines, disk and network that a collection and a question rate need.

    python benchmarks/capacity.py benchmarks/capacity-sentences.json --documents 1e8 --questions 1000

`benchmarks/capacity_measure.py` writes the file. The arithmetic is in `requirements`; docs/capacity.md explains it.
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
"""Numbers of candidates for which times were measured."""


@dataclass(frozen=True)
class Workload:
    """What must be served, and by which machines."""

    documents: float = 1e8
    questions: float = 1000
    """Per second."""
    candidates: int = 100
    """Per question."""
    busy: float = 0.6
    """Utilisation of a core; the rest absorbs bursts of questions."""
    cores: int = 32
    """Per machine."""
    disk: float = 4e12
    """Bytes per machine for documents."""
    copies: int = 2
    """Machines that hold each document, so that one may fail."""


@dataclass(frozen=True)
class Cost:
    """The cost of one kind of ranker."""

    question: float
    """Core-seconds per question, on each machine that ranks candidates for it."""
    candidate: float
    """Core-seconds per candidate."""
    stored: float = 0
    """Bytes per document on disk; 0 for a ranker that stores nothing."""


@dataclass(frozen=True)
class Requirements:
    shards: int
    """Parts of the collection, one per machine."""
    asked: float
    """Shards that hold candidates of a question, on average."""
    core_seconds: float
    """Per question."""
    cores: int
    machines: int
    disk: float
    """Bytes of all copies."""
    reads: float
    """Documents per second that a machine reads from disk or memory."""


def requirements(cost: Cost, workload: Workload) -> Requirements:
    """What the workload needs. A hash distributes the documents over the shards, and so a question's candidates."""
    shards = max(1, ceil(workload.documents * cost.stored / workload.disk))
    asked = shards * (1 - (1 - 1 / shards) ** workload.candidates)
    core_seconds = asked * cost.question + workload.candidates * cost.candidate
    cores = ceil(workload.questions * core_seconds / workload.busy)
    machines = shards * max(workload.copies, ceil(cores / (shards * workload.cores)))
    stored = workload.documents * cost.stored * (machines / shards)
    reads = workload.questions * workload.candidates / machines if cost.stored else 0.0
    return Requirements(shards, asked, core_seconds, cores, machines, stored, reads)


def cost_of(row: dict[str, Any], stored: float) -> Cost:
    """Fit a line through the two measured times; its value at no candidates is the cost of the question."""
    candidate = (row[str(MANY)] - row[str(FEW)]) / (MANY - FEW)
    return Cost(max(0.0, row[str(FEW)] - FEW * candidate), candidate, stored)


def rankers(measured: dict[str, Any], workload: Workload) -> Iterator[dict[str, str]]:
    """A row for each ranker; stored documents are in int8."""
    for row in measured["rankers"]:
        store = measured["stores"].get(row["store"])
        cost = cost_of(row, store["bytes"]["int8"]["disk"] if store else 0)
        needs = requirements(cost, workload)
        yield {
            "": row["ranker"],
            "per question": f"{1000 * cost.question:.1f} ms",
            "per candidate": f"{1000 * cost.candidate:.2f} ms",
            "core-seconds": f"{needs.core_seconds:.3f}",
            "cores": f"{needs.cores:,}",
            "shards": f"{needs.shards}",
            "machines": f"{needs.machines:,}",
            "reads per second": f"{needs.reads:,.0f}" if store else "",
        }


def storage(measured: dict[str, Any], workload: Workload) -> Iterator[dict[str, str]]:
    """A row for each number format: the space of all documents, once, and the network traffic to read them remotely."""
    store = next(iter(measured["stores"].values()))
    text = measured["texts"]["bytes"]
    for form, size in (*store["bytes"].items(), ("text", {"entry": text, "disk": text})):
        traffic = 8 * workload.questions * workload.candidates * size["entry"]
        yield {
            "": "the text itself" if form == "text" else f"`{form}`",
            "bytes per document": f"{size['entry']:,.0f}",
            "on disk": f"{size['disk']:,.0f}",
            "all documents": f"{workload.documents * size['disk'] / 1e12:.2f} TB",
            "over a network": f"{traffic / 1e9:.1f} Gbit/s",
        }


def encoding(measured: dict[str, Any], workload: Workload) -> Iterator[dict[str, str]]:
    """A row for each store: the time to encode every document once."""
    for name, store in measured["stores"].items():
        days = workload.documents * store["encode_seconds"] / 86_400
        yield {
            "": name,
            "per document": f"{1000 * store['encode_seconds']:.1f} ms",
            "all documents": f"{days:,.0f} core-days",
        }


def tables(measured: dict[str, Any], workload: Workload) -> str:
    """All three tables, in Markdown."""
    contents = (list(rows(measured, workload)) for rows in (rankers, storage, encoding))
    return "\n\n".join(markdown(rows, {name: name for name in rows[0]}) for rows in contents)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path)
    for name, default in vars(Workload()).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    options = vars(parser.parse_args())
    measured = json.loads(options.pop("measured").read_text(encoding="utf-8"))
    print(tables(measured, Workload(**options)))


if __name__ == "__main__":
    main()
