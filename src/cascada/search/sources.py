"""What a list of paths is asked through: an index, or the files themselves in memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cascada.errors import CascadaError
from cascada.ranking import Ranker
from cascada.ranking.drop import Drop, Keep
from cascada.search.answers import Answers
from cascada.search.asker import Asker
from cascada.search.files import Source, Watch
from cascada.search.index import Index, is_index
from cascada.search.memory import MemoryRetriever
from cascada.search.reading import Report, read_passages, warn
from cascada.search.retriever import Retriever, checked_scoring


def retriever_of(
    paths: Iterable[Source],
    *,
    index: Source | None = None,
    scoring: str = "bm25",
    report: Report = warn,
    watch: Watch = iter,
) -> Retriever:
    """A search engine over files and folders, held in memory; over one index; or over `index`, after an update.

    `index` is made if need be, the files under `paths` are brought up to date in it, and all that is in it is searched.
    """
    sources = [Path(path) for path in paths]
    checked_scoring(scoring)
    if index is not None:
        return _updated(Path(index), sources, scoring, report, watch)
    indexes = [path for path in sources if is_index(path)]
    if not indexes:
        return MemoryRetriever(read_passages(sources, report=report, watch=watch), scoring=scoring)
    if len(sources) > 1:
        raise CascadaError(f"{indexes[0]} is an index and stands alone: add files to it with --index {indexes[0]}.")
    return _filled(Index(indexes[0], scoring=scoring))


def ask(
    question: str,
    *paths: Source,
    index: Source | None = None,
    model: str | Path | None = None,
    scoring: str = "bm25",
    language: str = "en",
    top: int | None = 3,
    paragraphs: int = 80,
    drop: Drop = None,
    keep: Keep | None = None,
    deadline_ms: float | None = None,
) -> Answers:
    """Answer a question from files, folders or an index. For many questions make an `Asker` once.

    print(ask("who wrote hamlet?", "plays/"))
    """
    ranker = Ranker.load(model)
    asker = Asker(retriever_of(paths, index=index, scoring=scoring), ranker, language=language)
    return asker.ask(question, top=top, paragraphs=paragraphs, drop=drop, keep=keep, deadline_ms=deadline_ms)


def _updated(folder: Path, sources: list[Path], scoring: str, report: Report, watch: Watch) -> Index:
    found = Index(folder, create=bool(sources), scoring=scoring)
    if sources:
        found.update(sources, report=report, watch=watch)
    return _filled(found)


def _filled(index: Index) -> Index:
    if not len(index):
        raise CascadaError(f"The index {index.folder} is empty: fill it with `cascada index FOLDER {index.folder}`.")
    return index
