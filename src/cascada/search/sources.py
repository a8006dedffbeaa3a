"""What a list of paths is asked through: an index, or the files themselves in memory."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from cascada.core.errors import CascadaError, DataError
from cascada.core.files import cache_folder
from cascada.ranking import Ranker
from cascada.ranking.plan import Drop, Keep
from cascada.search.answers import Answers
from cascada.search.asker import Asker
from cascada.search.documents import Report, Source, Watch, find_files, read_passages, warn
from cascada.search.index import Index, is_index
from cascada.search.retrievers import MemoryRetriever, Retriever, checked_scoring

REMEMBERED = 1_000_000


def retriever_of(
    paths: Iterable[Source],
    *,
    index: Source | None = None,
    scoring: str = "bm25",
    report: Report = warn,
    watch: Watch = iter,
) -> Retriever:
    """A search engine over files and folders; over one index; or over `index`, after an update.

    `index` is made if need be, the files under `paths` are brought up to date in it, and all that is in it is searched.
    Without one, files are held in memory; from `REMEMBERED` bytes on they have an index in the cache folder, so that
    the next question reads only what changed.
    """
    sources = [Path(path) for path in paths]
    checked_scoring(scoring)
    if index is not None:
        return _updated(Path(index), sources, scoring, report, watch)
    indexes = [path for path in sources if is_index(path)]
    if not indexes:
        return _remembered(sources, scoring, report, watch) or MemoryRetriever(
            read_passages(sources, report=report, watch=watch), scoring=scoring
        )
    if len(sources) > 1:
        raise CascadaError(f"{indexes[0]} is an index and stands alone: add files to it with --index {indexes[0]}.")
    return _filled(Index(indexes[0], scoring=scoring))


def ask(
    question: str,
    *paths: Source,
    index: Source | None = None,
    model: str | Path | None = None,
    reader: str | Path | None = None,
    scoring: str = "bm25",
    language: str = "en",
    top: int | None = 3,
    paragraphs: int = 80,
    drop: Drop = None,
    keep: Keep | None = None,
    deadline_ms: float | None = None,
) -> Answers:
    """Answer a question from files, folders or an index. For many questions make an `Asker` once.

    `reader` is the folder of one: it finds the short answer in the sentences.

        print(ask("who wrote hamlet?", "plays/"))
    """
    ranker = Ranker.load(model)
    from cascada.reading import Reader

    reads = Reader.load(reader) if reader else None
    asker = Asker(retriever_of(paths, index=index, scoring=scoring), ranker, reader=reads, language=language)
    return asker.ask(question, top=top, paragraphs=paragraphs, drop=drop, keep=keep, deadline_ms=deadline_ms)


def _updated(folder: Path, sources: list[Path], scoring: str, report: Report, watch: Watch) -> Index:
    if sources:
        find_files(sources)  # a mistyped path is told before an index is made
    found = Index(folder, create=bool(sources), scoring=scoring)
    if sources:
        found.update(sources, report=report, watch=watch)
    return _filled(found)


def _remembered(sources: list[Path], scoring: str, report: Report, watch: Watch) -> Index | None:
    """The index of these paths in the cache; None for a few files, and where it cannot be used right now."""
    files = find_files(sources)
    if sum(file.stat().st_size for file in files if file.is_file()) < REMEMBERED:
        return None
    named = json.dumps(sorted(os.path.abspath(path) for path in sources))
    folder = cache_folder() / "indexes" / hashlib.sha256(named.encode()).hexdigest()[:16]
    try:
        index = _opened(folder, scoring)
        index.update(sources, report=report, watch=watch)
    except DataError:
        raise  # the files' fault
    except CascadaError:  # another process is at it, or the disk is full
        return None
    return index if len(index) else None


def _opened(folder: Path, scoring: str) -> Index:
    try:
        return Index(folder, create=True, scoring=scoring)
    except CascadaError:  # damaged, or of another version: it can be made again
        shutil.rmtree(folder, ignore_errors=True)
        return Index(folder, create=True, scoring=scoring)


def _filled(index: Index) -> Index:
    if not len(index):
        raise CascadaError(f"The index {index.folder} is empty: fill it with `cascada index FOLDER {index.folder}`.")
    return index
