"""BEIR's layout: `corpus.jsonl`, `queries.jsonl` and judgements in `qrels/SPLIT.tsv`, each plain or gzipped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.data import check
from cascada.data.benchmark import Benchmark
from cascada.data.lines import Line, records
from cascada.data.trec import Qrels, read_qrels

RELEVANT = 1
"""BEIR's own threshold: every relevance above 0 is correct."""


def benchmark(root: Path, split: str | None, qrels: Qrels | None = None) -> Benchmark:
    """The benchmark in a folder, with the judgements of a split (by default `test`), or other ones."""
    if qrels is None:
        known = splits(root)
        split = split or "test"
        if split not in known:
            raise CascadaError(f"{root} has no judgements qrels/{split}.tsv; it has {', '.join(known) or 'none'}.")
        qrels = read_qrels(known[split])
    questions = dict(_records(_file(root, "queries.jsonl"), "_id and text"))
    documents = partial(_records, _file(root, "corpus.jsonl"), "_id, title and text")
    return Benchmark("beir", root, qrels, RELEVANT, questions, documents)


def splits(root: Path) -> dict[str, Path]:
    """Split → its file of judgements."""
    paths = sorted(path for path in (root / "qrels").glob("*.tsv*") if path.name.endswith((".tsv", ".tsv.gz")))
    return {path.name.partition(".")[0]: path for path in paths}


def _records(path: Path, what: str) -> Iterator[tuple[str, str]]:
    """Id and text of each line; a title is put before the text, as BEIR's own code does."""
    seen: set[str] = set()
    for line in records(path, f"one JSON object per line, with {what}"):
        record = check.json_line(line)
        identifier = _identifier(record.get("_id"), line)
        if identifier in seen:
            raise line.error(f"the id {identifier} occurs a second time")
        seen.add(identifier)
        title = check.text_field(record, ("title",), line) if record.get("title") else ""
        yield identifier, f"{title} {check.text_field(record, ('text',), line)}".strip()


def _identifier(value: object, line: Line) -> str:
    identifier = check.identifier(value, line)
    if not identifier:
        raise line.error(f'expected an id under "_id", found {check.shorten(value)}')
    return identifier


def _file(root: Path, name: str) -> Path:
    for path in (root / name, root / f"{name}.gz"):
        if path.is_file():
            return path
    raise CascadaError(f"{root} has no {name}: BEIR's layout is corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv.")
