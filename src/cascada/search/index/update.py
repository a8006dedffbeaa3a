"""How an index follows its files: new and changed files are read, files that no longer exist are removed."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import tantivy

from cascada.core.errors import CascadaError, DataError, first_line
from cascada.search.files import Report, Source, Watch, file_passages, find_files, report_skipped
from cascada.search.index.layout import FileRecord, add_record, entry_of
from cascada.search.passage import Passage, document_id

if TYPE_CHECKING:
    from cascada.search.index.index import Index

WRITER_MEMORY = 64_000_000
"""Bytes that tantivy may use before it writes to disk."""

RETRY = 0.05
"""Seconds between two attempts to become the only writer."""

COMMIT_AFTER = 20_000
"""Passages between commits, which come between files. After a kill, an update resumes from its last commit."""


@dataclass
class Update:
    """The number of files that an update added, changed and so on."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    forgotten: int = 0
    left_out: int = 0
    """Files that could not be read. They are not in the index, even if they were before."""


class IndexBusy(CascadaError):
    """Another process is changing the index."""


def update(
    index: Index,
    paths: Iterable[Source],
    files: Sequence[Path] | None,
    report: Report | None,
    watch: Watch,
    wait: float,
) -> Update:
    """Bring the files under `paths` up to date; `files` are those found there, if known."""
    roots = _absolute(paths)
    present = _absolute(find_files(roots) if files is None else files)
    counts = Update()
    problems: list[DataError] = []
    with _writing(index, wait) as writer:
        indexed = index.files()
        for path in _under(indexed, roots) - set(map(str, present)):
            writer.forget(path)
            counts.forgotten += 1
        for file in watch(present):
            try:
                _update_file(writer, file, indexed.get(str(file)), counts)
            except DataError as problem:
                writer.forget(str(file))
                problems.append(problem)
    counts.left_out = len(problems)
    report_skipped(problems, report, all_skipped=not len(index))
    return counts


def forget(index: Index, paths: Iterable[Source]) -> int:
    """Remove the files at or under `paths` from the index; return their number."""
    with _writing(index) as writer:
        unwanted = _under(index.files(), _absolute(paths))
        for path in unwanted:
            writer.forget(path)
    return len(unwanted)


def _update_file(writer: Writer, file: Path, before: FileRecord | None, counts: Update) -> None:
    record = FileRecord.of(file)
    if not record.looks_like(before):
        record = record.hashed()
        if before is None or record.hash != before.hash:
            writer.replace(record)
            counts.added += before is None
            counts.changed += before is not None
            return
    counts.unchanged += 1


class Writer:
    """Writes files into an index, and commits every `COMMIT_AFTER` passages."""

    def __init__(self, engine: tantivy.IndexWriter) -> None:
        self.engine = engine
        self.uncommitted = 0

    def forget(self, path: str) -> None:
        self.engine.delete_documents_by_term("file", document_id(path))

    def replace(self, record: FileRecord) -> None:
        """Index a file again. Its last passage, which carries the record, is added once the whole file was read."""
        self.forget(record.path)
        file = document_id(record.path)
        last: Passage | None = None
        count = 0
        for passage in file_passages(Path(record.path)):
            if last:
                self.engine.add_document(entry_of(last, file))
            last, count = passage, count + 1
        if last:
            self._add_last(entry_of(last, file), replace(record, passages=count))

    def _add_last(self, entry: tantivy.Document, record: FileRecord) -> None:
        add_record(entry, record)
        self.engine.add_document(entry)
        self.uncommitted += record.passages
        if self.uncommitted >= COMMIT_AFTER:
            self.engine.commit()
            self.uncommitted = 0


@contextmanager
def only_writer(index: Index, wait: float = 0.0) -> Iterator[tantivy.IndexWriter]:
    """Lock an index against changes by other processes; wait up to `wait` seconds for one that is changing it."""
    until = time.monotonic() + wait
    while True:
        try:
            engine = index.engine.writer(WRITER_MEMORY, 1)
            break
        except ValueError as error:
            if "LockBusy" not in str(error):
                raise _write_error(index.folder, error) from error
            if time.monotonic() >= until:
                raise IndexBusy(f"Another process is changing the index {index.folder} right now.") from None
            time.sleep(RETRY)
    index.engine.reload()  # what another process has committed
    yield engine


@contextmanager
def _writing(index: Index, wait: float = 0.0) -> Iterator[Writer]:
    """The only writer of an index. Its work is committed at the end; after an error, up to its last commit."""
    with only_writer(index, wait) as engine:
        yield from _committing(index, engine)


def _committing(index: Index, engine: tantivy.IndexWriter) -> Iterator[Writer]:
    try:
        yield Writer(engine)
        engine.commit()
        engine.wait_merging_threads()
    except CascadaError:
        raise
    except (ValueError, OSError) as error:  # tantivy raises ValueErrors
        write_error = _write_error(index.folder, error)
        _remove_unfinished_files(engine)
        raise write_error from error
    finally:
        index.engine.reload()


def _remove_unfinished_files(engine: tantivy.IndexWriter) -> None:
    """Free the space of files that were not committed: they would keep a full disk full."""
    with suppress(ValueError, OSError):
        engine.rollback()
        engine.garbage_collect_files()


def _write_error(folder: Path, error: Exception) -> CascadaError:
    """The error with its reason. On a full disk tantivy may only report a killed thread: the free space is checked."""
    full = "os error 28" in str(error) or shutil.disk_usage(folder).free < 1_000_000
    reason = "the disk is full" if full else first_line(error).rstrip(".")
    return CascadaError(f"The index {folder} could not be written: {reason}. It keeps what it contained before.")


def _absolute(paths: Iterable[Source]) -> list[Path]:
    return [Path(os.path.abspath(path)) for path in paths]


def _under(files: Iterable[str], roots: list[Path]) -> set[str]:
    """The files that are, or lie in, one of the roots."""
    return {path for path in files if any(Path(path).is_relative_to(root) for root in roots)}
