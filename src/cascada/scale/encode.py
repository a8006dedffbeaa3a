"""Encode a corpus into the shards of a store, with Ray Data: read by file, shuffled by shard, encoded by shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa
import ray.data
from ray.data.context import ShuffleStrategy

from cascada.core.errors import CascadaError, DataError
from cascada.scale.cluster import worker_errors_as_sentences
from cascada.scale.corpus import Corpus
from cascada.scale.files import absolute, names_in
from cascada.scale.shard import EncodingJob, fill_shard
from cascada.store import shard_of
from cascada.store.folder import data_numbers, shard_name, shard_numbers

BATCH = 10_000
"""Texts that a reading task passes on together."""

PROBLEM = -1
"""Instead of a shard's number: the text is the error message of a file that is skipped."""

_ROWS = pa.schema([("shard", pa.int32()), ("text", pa.binary())])  # binary: a text may contain a lone surrogate


@dataclass
class Encoded:
    """The result of encoding a corpus."""

    documents: int = 0
    """Distinct texts of the corpus."""
    added: int = 0
    """Those that were not in the store."""
    problems: tuple[str, ...] = ()
    """The error messages of files that were skipped."""


def encode(
    job: EncodingJob,
    corpus: Corpus,
    named: list[str],
    out: str,
    *,
    shards: int,
    advance: Callable[[int], object] | None = None,
) -> Encoded:
    """Encode every text of the named files and folders into its shard under `out`. Called again, it adds what is new.

    A file that cannot be read is skipped and reported in the result. If a worker dies, its shard starts from scratch.
    """
    out = absolute(out)
    check_shards(out, shards)
    # A shuffle that consists of tasks, which Ray repeats if a worker dies; other strategies use actors, which it does
    # not.
    context = ray.data.DataContext.get_current()
    context.shuffle_strategy = ShuffleStrategy.SORT_SHUFFLE_PULL_BASED
    context.raise_original_map_exception = True
    context.enable_progress_bars = context.print_on_execution_start = False
    sources = [{"source": source} for source in corpus.sources(named)]
    rows = ray.data.from_items(sources, override_num_blocks=len(sources))
    rows = rows.map_batches(partial(_read, corpus, shards), batch_size=1)
    rows = rows.sort("shard", boundaries=list(range(shards)))  # one block of problems, then one per shard
    fill = partial(_fill, job, out, shards)
    filled = rows.map_batches(fill, batch_size=None, batch_format="pyarrow", num_cpus=job.cpus)
    return _summed(filled, advance or (lambda _: None))


def check_shards(out: str, shards: int) -> None:
    """Reject another number of shards than an existing store has, and a folder that holds a store in one piece."""
    names = names_in(out)
    counts = {count for _, count in shard_numbers(names)}
    if counts - {shards}:
        raise CascadaError(f"{out} holds a store of {counts.pop()} shards, not of {shards}.")
    if data_numbers(names):
        raise CascadaError(f"{out} is a store in one piece: give the shards a folder of their own.")


def _read(corpus: Corpus, shards: int, batch: dict[str, Any]) -> Iterator[pa.Table]:
    """Rows (shard, text) of the sources in a batch."""
    for source in batch["source"]:
        try:
            texts = iter(corpus.texts(str(source)))
        except DataError as problem:
            yield _table([(PROBLEM, str(problem))])
            continue
        while some := list(islice(texts, BATCH)):
            yield _table([(shard_of(text, shards), text) for text in some])


def _table(rows: list[tuple[int, str]]) -> pa.Table:
    columns = {"shard": [shard for shard, _ in rows], "text": [_to_bytes(text) for _, text in rows]}
    return pa.Table.from_pydict(columns, schema=_ROWS)


def _fill(job: EncodingJob, out: str, shards: int, rows: pa.Table) -> Iterator[dict[str, list[Any]]]:
    """Fill the shards of these rows. Texts are sorted, so that a shard is the same whatever order they come in."""
    by_shard: dict[int, set[bytes]] = {}
    for shard, text in zip(rows["shard"].to_pylist(), rows["text"].to_pylist(), strict=True):
        by_shard.setdefault(shard, set()).add(text)
    for shard, distinct in by_shard.items():
        texts = sorted(text.decode("utf-8", "surrogatepass") for text in distinct)
        if shard == PROBLEM:
            yield {"documents": [0] * len(texts), "added": [0] * len(texts), "problem": texts}
            continue
        added = fill_shard(job, f"{out}/{shard_name(shard, shards)}", texts)
        yield {"documents": [len(texts)], "added": [added], "problem": [""]}


def _summed(filled: Any, advance: Callable[[int], object]) -> Encoded:
    total, problems = Encoded(), []
    with worker_errors_as_sentences():
        for row in filled.iter_rows():
            total.documents += row["documents"]
            total.added += row["added"]
            problems += [row["problem"]] if row["problem"] else []
            advance(row["documents"])
    if not total.documents:
        raise DataError(problems[0] if len(problems) == 1 else "There is no text to encode.")
    total.problems = tuple(problems)
    return total


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
