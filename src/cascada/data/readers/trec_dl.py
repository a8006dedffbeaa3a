"""TREC Deep Learning, passages: judgements with grades 0 to 3, and the candidates in one of three forms.

- `NAME-top100.jsonl` (any number): the list of the first stage NAME with its texts, in our own layout;
- `NAME-top1000.tsv`: the track's own reranking file, lines of question id, passage id, question and passage;
- `*queries*.tsv` (id, question) and the collection: `collection*.tsv` (id, passage), or MS MARCO v2's
  `msmarco_passage_*` (JSON lines with "pid" and "passage"), which may be in `msmarco_v2_passage`.

The judgements are in the one file with `qrels` in its name. Every file may be gzipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.data import check
from cascada.data.benchmark import Benchmark, Documents
from cascada.data.collect import Row, grouped
from cascada.data.group import Candidate, Group
from cascada.data.lines import records
from cascada.data.readers import jsonl
from cascada.data.trec import Qrels, read_qrels

RELEVANT = 2
"""The track's own threshold for binary measures: grade 1, "related", is not correct."""

_LIST = re.compile(r"(?P<name>.+)[-_.]top\d+\.(?P<form>jsonl|tsv)(\.gz)?")
_PAIRS = "question id, passage id, question, passage"


def benchmark(root: Path, split: str | None, qrels: Qrels | None = None) -> Benchmark:
    """The benchmark in a folder. It has no splits: a folder holds one year. `qrels` replaces the judgements there."""
    if split is not None:
        raise CascadaError(f"trec_dl has no splits, only first stages (--first-stage), but the split is {split!r}.")
    lists = _lists(root)
    queries, collection = _files(root, "*queries*.tsv*"), _collection(root)
    if not lists and not (queries and collection):
        raise CascadaError(
            f"{root} has no candidates: neither lists (NAME-top100.jsonl, NAME-top1000.tsv) nor *queries*.tsv with "
            "collection.tsv or msmarco_passage_* files."
        )
    questions = dict(chain.from_iterable(_two_columns(path, "id, question") for path in queries))
    judgements = read_qrels(_qrels_file(root)) if qrels is None else qrels
    return Benchmark("trec_dl", root, judgements, RELEVANT, questions, collection if queries else None, lists)


def _lists(root: Path) -> dict[str, partial[Iterator[Group]]]:
    matches = {path: _LIST.fullmatch(path.name) for path in _files(root, "*top*")}
    readers = {"jsonl": jsonl.read, "tsv": _pairs}
    return {match["name"]: partial(readers[match["form"]], path) for path, match in matches.items() if match}


def _pairs(path: Path) -> Iterator[Group]:
    return grouped(_pair_rows(path))


def _pair_rows(path: Path) -> Iterator[Row]:
    for line in records(path, f"lines of {_PAIRS}"):
        question_id, passage_id, question, passage = check.columns(line, _PAIRS)
        yield Row(check.question(question, line), Candidate(passage, id=passage_id), question_id)


def _collection(root: Path) -> Documents | None:
    tables = _files(root, "collection*.tsv*")
    if tables:
        return lambda: chain.from_iterable(_two_columns(path, "id, passage") for path in tables)
    parts = _files(root, "msmarco_passage_*") or _files(root / "msmarco_v2_passage", "msmarco_passage_*")
    return (lambda: chain.from_iterable(map(_passages, parts))) if parts else None


def _two_columns(path: Path, names: str) -> Iterator[tuple[str, str]]:
    for line in records(path, f"lines of {names}"):
        identifier, text = check.columns(line, names)
        yield identifier, text


def _passages(path: Path) -> Iterator[tuple[str, str]]:
    for line in records(path, 'one JSON object per line, with "pid" and "passage"'):
        record = check.json_line(line)
        yield check.text_field(record, ("pid",), line), check.text_field(record, ("passage",), line)


def _qrels_file(root: Path) -> Path:
    files = _files(root, "*qrels*")
    if len(files) != 1:
        names = ", ".join(path.name for path in files)
        problem = f"has several files of judgements ({names})" if files else "has no file with qrels in its name"
        raise CascadaError(f"{root} {problem}: name the file of judgements (--qrels).")
    return files[0]


def _files(root: Path, pattern: str) -> list[Path]:
    return sorted(path for path in root.glob(pattern) if path.is_file())
