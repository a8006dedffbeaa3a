"""Assemble what answers questions from names: paths or an index, a ranker, a reader."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cascada.core.errors import CascadaError, DataError
from cascada.core.files import cache_folder
from cascada.ranking import Ranker
from cascada.ranking.inputs import RankArguments
from cascada.search.answers import Answers
from cascada.search.asker import Asker
from cascada.search.files import Report, Source, Watch, find_files, read_files
from cascada.search.hybrid import with_encodings
from cascada.search.index import Index, IndexBusy, is_index
from cascada.search.retrievers import MemoryRetriever, Retriever, checked_scoring

if TYPE_CHECKING:
    from cascada.reading import Reader

Note = Callable[[str], object]
"""Is called with a sentence about a problem that a user should know of, and that does not prevent an answer."""

WAIT = 5.0
"""Seconds to wait for another process that is changing the index, before the index is asked as it is."""

CACHED_FROM = 1_000_000
"""Bytes of files from which on `retriever_of` keeps an index in the cache folder."""


def ask(
    question: str,
    *paths: Source,
    index: Source | None = None,
    model: str | Path | None = None,
    reader: str | Path | None = None,
    scoring: str = "bm25",
    language: str = "en",
    paragraphs: int = 80,
    **arguments: Unpack[RankArguments],
) -> Answers:
    """Answer a question from files, folders or an index. For many questions, make an `Asker` once with `asker_of`.

    `model` names a ranker (see `Ranker.load`). `reader` is the folder of a reader, which finds the short answer in each
    sentence. The other arguments are those of `Asker.ask`.

        print(ask("who wrote hamlet?", "plays/"))
    """
    asker = asker_of(paths, index=index, ranker=model, reader=reader, scoring=scoring, language=language)
    return asker.ask(question, paragraphs=paragraphs, **arguments)


def asker_of(
    paths: Iterable[Source] = (),
    *,
    index: Source | None = None,
    ranker: Ranker | str | Path | None = None,
    reader: Reader | str | Path | None = None,
    scoring: str = "bm25",
    language: str = "en",
    report: Report | None = None,
    watch: Watch = iter,
    note: Note = warnings.warn,
) -> Asker:
    """Load a ranker and a reader by name, and ask them about files, folders or an index.

    `paths`, `index`, `scoring`, `report`, `watch` and `note` are those of `retriever_of`; `language` is that of
    `Asker`. The ranker and the reader come first: a mistake in their names is found before files are read. An index
    with encodings is searched by vectors, too; if the encodings are this ranker's, it reads them instead of encoding
    sentences anew.
    """
    sources = list(paths)
    if not sources and index is None:
        raise CascadaError("There is nothing to ask: give files, folders or an index.")
    loaded_ranker = ranker if isinstance(ranker, Ranker) else Ranker.load(ranker)
    loaded_reader = _load_reader(reader) if isinstance(reader, str | Path) else reader
    retriever = retriever_of(sources, index=index, scoring=scoring, report=report, watch=watch, note=note)
    store = None
    if isinstance(retriever, Index):
        retriever, store = with_encodings(retriever, loaded_ranker, note)
    return Asker(retriever, loaded_ranker, reader=loaded_reader, language=language, store=store)


def retriever_of(
    paths: Iterable[Source],
    *,
    index: Source | None = None,
    scoring: str = "bm25",
    report: Report | None = None,
    watch: Watch = iter,
    note: Note = warnings.warn,
) -> Retriever:
    """A search engine over files and folders, or over an index.

    With `index`, the files under `paths` are brought up to date in that index, which is created if needed, and all that
    it contains is searched. One path may itself be an index. Otherwise files are held in memory; from `CACHED_FROM`
    bytes on they have an index in the cache folder instead, so that the next question reads only what changed.

    `report` is called with the problem of each file that is skipped, `note` with anything else that is worth knowing;
    the default is a Python warning. `watch` wraps the list of files to show progress.
    """
    sources = [Path(path) for path in paths]
    checked_scoring(scoring)
    if index is not None:
        return _updated(Path(index), sources, scoring, report, watch, note)
    indexes = [path for path in sources if is_index(path)]
    if indexes and len(sources) > 1:
        raise CascadaError(
            f"{indexes[0]} is an index, and an index is asked alone: add files to it with --index {indexes[0]}."
        )
    if indexes:
        return _not_empty(Index(indexes[0], scoring=scoring))
    files = find_files(sources)
    if sum(file.stat().st_size for file in files if file.is_file()) >= CACHED_FROM:
        cached = _cached_index(sources, files, scoring, report, watch)
        if cached is not None:
            return cached
    return MemoryRetriever(read_files(files, report=report, watch=watch), scoring=scoring)


def _load_reader(name: str | Path) -> Reader:
    from cascada.reading import Reader

    return Reader.load(name)


def _updated(folder: Path, sources: list[Path], scoring: str, report: Report | None, watch: Watch, note: Note) -> Index:
    if not sources:
        return _not_empty(Index(folder, scoring=scoring))
    files = find_files(sources)  # before an index is created: a mistyped path leaves nothing behind
    index = Index(folder, create=True, scoring=scoring)
    while True:
        try:
            index.update(sources, files=files, report=report, watch=watch, wait=WAIT)
            return _not_empty(index)
        except IndexBusy as busy:
            index.engine.reload()
            if len(index):  # else wait for what the other process is reading
                note(f"{busy} It is asked as it is; the files were not looked at.")
                return index


def _cached_index(
    sources: list[Path], files: Sequence[Path], scoring: str, report: Report | None, watch: Watch
) -> Index | None:
    """The index of these paths in the cache folder; None if it cannot be used right now."""
    named = json.dumps(sorted(os.path.abspath(path) for path in sources))
    folder = cache_folder() / "indexes" / hashlib.sha256(named.encode()).hexdigest()[:16]
    try:
        index = _opened_or_rebuilt(folder, scoring)
        index.update(sources, files=files, report=report, watch=watch)
    except DataError:
        raise  # a problem with the files themselves
    except CascadaError:  # another process is updating the index, or the disk is full
        return None
    return index if len(index) else None


def _opened_or_rebuilt(folder: Path, scoring: str) -> Index:
    try:
        return Index(folder, create=True, scoring=scoring)
    except CascadaError:  # damaged, or of another version: a cached index can be built again
        shutil.rmtree(folder, ignore_errors=True)
        return Index(folder, create=True, scoring=scoring)


def _not_empty(index: Index) -> Index:
    if not len(index):
        raise CascadaError(f"The index {index.folder} is empty: fill it with `cascada index FOLDER {index.folder}`.")
    return index
