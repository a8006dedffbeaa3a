"""What the number format of a store costs: quality, disk space, and the share of ranking time spent on reading.

    python benchmarks/store.py runs/dc openqa-test.jsonl [--questions 100] [--documents 100] [--json]

The model is a decoupled ranker. The encodings of all candidates are written into one store per format. Each question
ranks its own candidates and others, --documents in total, from each store. "read ms" is the median time to read these
documents, "rank ms" the median time to rank them, which reads them again. Formats alternate question by question, so
that other work on the machine affects them equally. MAP is that of a question's own candidates, without drops.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from cascada.cli.progress import shown
from cascada.data import Group, load, qrels
from cascada.data.sample import evenly_spaced
from cascada.metrics import evaluate
from cascada.ranking import Ranker
from cascada.store import FORMS, Store, stats
from cascada.systems.decoupled.engine import document_encoder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("groups", type=Path)
    parser.add_argument("--questions", type=int, help="use this many questions, spread evenly over the file")
    parser.add_argument("--documents", type=int, default=100, help="documents ranked per question")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    groups = evenly_spaced(load(options.groups), options.questions)
    with tempfile.TemporaryDirectory() as work:
        stores = written(options.model, groups, Path(work))
        rows = measured(options.model, groups, stores, options.documents)
    if options.json:
        print(json.dumps({"questions": len(groups), "documents": options.documents, "forms": rows}, indent=1))
    else:
        print_table(rows, f"{len(groups)} questions, {options.documents} documents each")


def written(model: str, groups: list[Group], work: Path) -> dict[str, Store]:
    """One store per format with all candidates, which are encoded once."""
    encoder = document_encoder(model)
    stores = {
        form: Store.create(work / form, fingerprint=encoder.fingerprint, width=encoder.width, form=form)
        for form in FORMS
    }
    texts = list(dict.fromkeys(text for group in groups for text in group.texts))
    starts = range(0, len(texts), 64)
    for start in shown(starts, "encoding", total=len(starts), unit="batches"):
        part = texts[start : start + 64]
        encodings = encoder.encode(part)
        for store in stores.values():
            store.put(part, encodings)
    return stores


def measured(model: str, groups: list[Group], stores: dict[str, Store], documents: int) -> dict[str, dict[str, float]]:
    rankers = {form: Ranker.load(model, store=store) for form, store in stores.items()}
    others = list(dict.fromkeys(text for group in groups for text in group.texts))
    reading: dict[str, list[float]] = {form: [] for form in stores}
    ranking: dict[str, list[float]] = {form: [] for form in stores}
    runs: dict[str, dict[str, dict[str, float]]] = {form: {} for form in stores}
    for form, ranker in rankers.items():  # warm-up
        ranker.rank(groups[0].question, groups[0].texts)
        stores[form].get(groups[0].texts)
    for group in shown(groups, "questions", total=len(groups), unit="questions"):
        own = {text: str(candidate.id) for text, candidate in zip(group.texts, group.candidates, strict=True)}
        texts = list(dict.fromkeys([*own, *others]))[: max(documents, len(own))]
        for form, ranker in rankers.items():
            started = time.perf_counter()
            stores[form].get(texts)
            read_at = time.perf_counter()
            ranked = ranker.rank(group.question, texts)
            ranking[form].append(time.perf_counter() - read_at)
            reading[form].append(read_at - started)
            order = [own[texts[item.index]] for item in ranked if texts[item.index] in own]
            runs[form][str(group.id)] = {name: float(-place) for place, name in enumerate(order)}
    return {
        form: {
            "MAP": evaluate(runs[form], qrels(groups), ["MAP"]).mean["MAP"],
            "read ms": 1000 * statistics.median(reading[form]),
            "rank ms": 1000 * statistics.median(ranking[form]),
            "share %": 100 * statistics.median(reading[form]) / statistics.median(ranking[form]),
            "bytes per document": stats(store).bytes_per_document,
            "tokens per document": stats(store).tokens_per_document,
        }
        for form, store in stores.items()
    }


def print_table(rows: dict[str, dict[str, float]], title: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table: Any = Table("form", title=title, box=box.SIMPLE)
    for name in rows["int8"]:
        table.add_column(name, justify="right")
    for form, row in rows.items():
        cells = [f"{value:.4f}" if name == "MAP" else f"{value:,.1f}" for name, value in row.items()]
        table.add_row(form, *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
