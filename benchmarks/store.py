"""The store of encodings: how long reading takes, and how many bytes a document takes, in every number format.

    python benchmarks/store.py [--read 100] [--tokens 128] [--width 384] [--json]

The store holds ten times as many documents as are read at once, each time others, from the page cache. "ms" is the best
and the median of the repeats, by the clock; "processor ms" is the median time that the process itself was running,
which depends less on what else the machine is doing. The numbers of the encodings are random: no format takes less
room or time for others.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from cascada.store import FORMS, Store, stats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--read", type=int, default=100, help="documents read at once")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        found = {form: measured(Path(work, form), form, options) for form in FORMS}
    if options.json:
        print(json.dumps(vars(options) | {"forms": found}, indent=2))
    else:
        print_table(found, options)


def measured(folder: Path, form: str, options: argparse.Namespace) -> dict[str, float]:
    store = Store.create(folder, fingerprint="random numbers", width=options.width, form=form)
    texts = [f"document {number}" for number in range(10 * options.read)]
    written = time.perf_counter()
    for start in range(0, len(texts), options.read):
        part = texts[start : start + options.read]
        numbers = np.random.default_rng(start).standard_normal((len(part), options.tokens, options.width), np.float32)
        store.put(part, list(numbers))
    written = time.perf_counter() - written
    wall, processor = times(store, texts, options)
    counted = stats(store)
    return {
        "best ms": round(min(wall) * 1000, 2),
        "median ms": round(statistics.median(wall) * 1000, 2),
        "processor ms": round(statistics.median(processor) * 1000, 2),
        "bytes per document": round(counted.bytes_per_document),
        "of them its own": round(counted.entry_bytes / counted.documents),
        "written per second": round(len(texts) / written),
    }


def times(store: Store, texts: list[str], options: argparse.Namespace) -> tuple[list[float], list[float]]:
    wall, processor = [], []
    choose = random.Random(0)
    store.get(texts)
    for _ in range(options.repeats):
        asked = choose.sample(texts, options.read)
        started, ran = time.perf_counter(), time.process_time()
        store.get(asked)
        wall.append(time.perf_counter() - started)
        processor.append(time.process_time() - ran)
    return wall, processor


def print_table(found: dict[str, dict[str, float]], options: argparse.Namespace) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    title = f"reading {options.read} documents of {options.tokens} tokens × {options.width}"
    table: Any = Table("form", title=title, box=box.SIMPLE)
    for name in found["int8"]:
        table.add_column(name, justify="right")
    for form, row in found.items():
        table.add_row(form, *(f"{value:,}" for value in row.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
