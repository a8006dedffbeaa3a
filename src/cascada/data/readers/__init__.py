"""One module per layout. Its `read(path)` streams groups; that of a test collection has `benchmark(root, split)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cascada.data.benchmark import Benchmark
from cascada.data.group import Group
from cascada.data.lines import Source
from cascada.data.readers import (
    asnq,
    beir,
    csv,
    gpd,
    jsonl,
    qnli,
    selqa,
    squad,
    squad_sentences,
    trec_dl,
    trecqa,
    wikiqa,
)

Reader = Callable[[Source], Iterator[Group]]

READERS: dict[str, Reader] = {
    "wikiqa": wikiqa.read,
    "trecqa": trecqa.read,
    "asnq": asnq.read,
    "qnli": qnli.read,
    "selqa": selqa.read,
    "squad": squad.read,
    "squad_sentences": squad_sentences.read,
    "gpd": gpd.read,
    "csv": csv.read,
    "jsonl": jsonl.read,
}

BENCHMARKS: dict[str, Callable[..., Benchmark]] = {"beir": beir.benchmark, "trec_dl": trec_dl.benchmark}
"""Test collections by name: their candidates come from a first stage."""
