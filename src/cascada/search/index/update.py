"""How an index follows its files: what changed is read again, what is gone is forgotten."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import tantivy

from cascada.core.errors import CascadaError, DataError, first_line
from cascada.search.documents import Report, Source, Watch, file_passages, find_files, tell
from cascada.search.index.layout import FileRecord, entry, key
from cascada.search.passages import Passage

if TYPE_CHECKING:
    from cascada.search.index.index import Index
MEMORY = 64_000_000


COMMIT_AFTER = 20_000
"""Passages. A run that is killed goes on from its last commit, which is always between two files."""


@dataclass
class Update:
    """What an update did, in files."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    forgotten: int = 0
    left_out: int = 0
    """Those that could not be read; they are not in the index, even if they were before."""


def update(index: Index, paths: Iterable[Source], report: Report, watch: Watch) -> Update:
    roots = _absolute(paths)
    files = find_files(roots)
    known = index.files()
    done = Update()
    problems: list[DataError] = []
    with _writing(index) as writer:
        present = {str(file) for file in files}
        for path in _under(known, roots) - present:
            writer.forget(path)
            done.forgotten += 1
        for file in watch(files):
            try:
                _follow(writer, file, known.get(str(file)), done)
            except DataError as problem:
                writer.forget(str(file))
                problems.append(problem)
    done.left_out = len(problems)
    tell(problems, report, nothing=not len(index))
    return done


def forget(index: Index, paths: Iterable[Source]) -> int:
    gone = _under(index.files(), _absolute(paths))
    with _writing(index) as writer:
        for path in gone:
            writer.forget(path)
    return len(gone)


def _follow(writer: Writer, file: Path, before: FileRecord | None, done: Update) -> None:
    record = FileRecord.of(file)
    if not record.looks_like(before):
        record = record.hashed()
        if before is None or record.hash != before.hash:
            writer.replace(record)
            done.added += before is None
            done.changed += before is not None
            return
    done.unchanged += 1


class Writer:
    """Files into the index, committed now and then."""

    def __init__(self, engine: tantivy.IndexWriter) -> None:
        self.engine = engine
        self.uncommitted = 0

    def forget(self, path: str) -> None:
        self.engine.delete_documents_by_term("file", key(path))

    def replace(self, record: FileRecord) -> None:
        """A file anew. Its last passage is held back until the file is known to be whole, and carries its record."""
        self.forget(record.path)
        file = key(record.path)
        last: Passage | None = None
        count = 0
        for passage in file_passages(Path(record.path)):
            if last:
                self.engine.add_document(entry(last, file))
            last, count = passage, count + 1
        if last:
            self._finish(entry(last, file), replace(record, passages=count))

    def _finish(self, last: tantivy.Document, record: FileRecord) -> None:
        last.add_unsigned("last", 1)
        last.add_bytes("record", record.to_bytes())
        self.engine.add_document(last)
        self.uncommitted += record.passages
        if self.uncommitted >= COMMIT_AFTER:
            self.engine.commit()
            self.uncommitted = 0


@contextmanager
def _writing(index: Index) -> Iterator[Writer]:
    """The one writer of an index. What it wrote is there at the end, or after its last commit if it fails."""
    try:
        writer = index.engine.writer(MEMORY, 1)
    except ValueError as error:
        if "LockBusy" in str(error):
            raise CascadaError(f"Another process is changing the index {index.folder} right now.") from None
        raise _unwritten(index.folder, error) from error
    try:
        yield Writer(writer)
        writer.commit()
        writer.wait_merging_threads()
    except CascadaError:
        raise
    except (ValueError, OSError) as error:  # tantivy's are ValueErrors
        failure = _unwritten(index.folder, error)
        _sweep(writer)
        raise failure from error
    finally:
        index.engine.reload()


def _sweep(writer: tantivy.IndexWriter) -> None:
    """Half-written files would keep a full disk full."""
    with suppress(ValueError, OSError):
        writer.rollback()
        writer.garbage_collect_files()


def _unwritten(folder: Path, error: Exception) -> CascadaError:
    """A writer whose thread died of a full disk says only that it was killed."""
    full = "os error 28" in str(error) or shutil.disk_usage(folder).free < 1_000_000
    reason = "the disk is full" if full else first_line(error).rstrip(".")
    return CascadaError(f"The index {folder} could not be written: {reason}. What was in it before is still there.")


def _absolute(paths: Iterable[Source]) -> list[Path]:
    return [Path(os.path.abspath(path)) for path in paths]


def _under(known: Iterable[str], roots: list[Path]) -> set[str]:
    """The files that are, or lie in, one of the roots."""
    return {path for path in known if any(Path(path).is_relative_to(root) for root in roots)}
