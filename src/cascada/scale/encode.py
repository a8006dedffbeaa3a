"""A corpus into the shards of a store, with Ray Data: read by file, brought together and encoded by shard."""

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
from cascada.scale.cluster import told
from cascada.scale.corpus import Corpus
from cascada.scale.files import absolute, names_in
from cascada.scale.shard import Filling, fill_shard
from cascada.store import shard_of
from cascada.store.folder import data_numbers, shard_name, shard_numbers

AT_ONCE = 10_000
"""Texts that a reading task hands on together."""


PROBLEM = -1
"""In place of a shard's number: the text is the complaint about a file that is left out."""


_ROWS = pa.schema([("shard", pa.int32()), ("text", pa.binary())])  # a text may hold half a character, Arrow's may not


@dataclass
class Encoded:
    """What became of a corpus."""

    documents: int = 0
    """Different texts."""
    added: int = 0
    problems: tuple[str, ...] = ()


def encode(
    filling: Filling,
    corpus: Corpus,
    named: list[str],
    out: str,
    *,
    shards: int,
    advance: Callable[[int], object] | None = None,
) -> Encoded:
    """Encode every text of the sources into its shard under `out`, each once. Called again, it does what is missing.

    A file that cannot be read is left out and told of; a worker that dies is replaced, and its shard begun again.
    """
    out = absolute(out)
    check_shards(out, shards)
    # Tasks alone, which Ray repeats when a worker dies, three times; other strategies have actors, which it does not.
    context = ray.data.DataContext.get_current()
    context.shuffle_strategy = ShuffleStrategy.SORT_SHUFFLE_PULL_BASED
    context.raise_original_map_exception = True
    context.enable_progress_bars = context.print_on_execution_start = False
    sources = [{"source": source} for source in corpus.sources(named)]
    rows = ray.data.from_items(sources, override_num_blocks=len(sources))
    rows = rows.map_batches(partial(_rows, corpus, shards), batch_size=1)
    rows = rows.sort("shard", boundaries=list(range(shards)))  # a block of complaints, then one for each shard
    fill = partial(_fill, filling, out, shards)
    done = rows.map_batches(fill, batch_size=None, batch_format="pyarrow", num_cpus=filling.cpus)
    return _counted(done, advance or (lambda _: None))


def check_shards(out: str, shards: int) -> None:
    """A store cannot get another number of shards, nor shards stand where something else does."""
    names = names_in(out)
    found = {count for _, count in shard_numbers(names)}
    if found - {shards}:
        raise CascadaError(f"{out} holds a store of {found.pop()} shards, not of {shards}.")
    if data_numbers(names):
        raise CascadaError(f"{out} is a store in one piece: give the shards a folder of their own.")


def _rows(corpus: Corpus, shards: int, batch: dict[str, Any]) -> Iterator[pa.Table]:
    for source in batch["source"]:
        try:
            texts = iter(corpus.texts(str(source)))
        except DataError as problem:
            yield _table([(PROBLEM, str(problem))])
            continue
        while some := list(islice(texts, AT_ONCE)):
            yield _table([(shard_of(text, shards), text) for text in some])


def _table(rows: list[tuple[int, str]]) -> pa.Table:
    columns = {"shard": [shard for shard, _ in rows], "text": [_packed(text) for _, text in rows]}
    return pa.Table.from_pydict(columns, schema=_ROWS)


def _fill(filling: Filling, out: str, shards: int, rows: pa.Table) -> Iterator[dict[str, list[Any]]]:
    """All rows of a shard, in whatever order they came: sorted, so that a shard is made the same way every time."""
    found: dict[int, set[bytes]] = {}
    for shard, text in zip(rows["shard"].to_pylist(), rows["text"].to_pylist(), strict=True):
        found.setdefault(shard, set()).add(text)
    for shard, packed in found.items():
        texts = sorted(text.decode("utf-8", "surrogatepass") for text in packed)
        if shard == PROBLEM:
            yield {"documents": [0] * len(texts), "added": [0] * len(texts), "problem": texts}
            continue
        added = fill_shard(filling, f"{out}/{shard_name(shard, shards)}", texts)
        yield {"documents": [len(texts)], "added": [added], "problem": [""]}


def _counted(done: Any, advance: Callable[[int], object]) -> Encoded:
    counted, problems = Encoded(), []
    with told():
        for row in done.iter_rows():
            counted.documents += row["documents"]
            counted.added += row["added"]
            problems += [row["problem"]] if row["problem"] else []
            advance(row["documents"])
    if not counted.documents:
        raise DataError(problems[0] if len(problems) == 1 else "There is no text to encode.")
    counted.problems = tuple(problems)
    return counted


def _packed(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
