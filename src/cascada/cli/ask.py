"""`cascada ask QUESTION PATH…`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.index import complain, watched
from cascada.cli.options import AsJson, Drop, Keep, Model, ratios, whole_numbers
from cascada.core.errors import CascadaError


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Files and folders: .txt .md .html .pdf .jsonl; or an index."),
    ] = None,
    index: Annotated[
        Path | None, typer.Option(help="Keep an index of the PATHs here and search it; made if it is not there.")
    ] = None,
    model: Model = None,
    reader: Annotated[Path | None, typer.Option(help="A reader's folder: shows the short answer in each one.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Show so many answers.")] = 3,
    paragraphs: Annotated[int, typer.Option(min=1, help="Look for answers in so many paragraphs.")] = 80,
    scoring: Annotated[str, typer.Option(help="How paragraphs are found: bm25 or tfidf.")] = "bm25",
    language: Annotated[str, typer.Option(help="The documents' language, two letters: how sentences end.")] = "en",
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[
        float | None, typer.Option(help="Answer within so many milliseconds, once files and model are read.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from documents: the sentences that answer it best, where they stand."""
    from cascada.ranking import Ranker
    from cascada.reading import Reader
    from cascada.search import Asker, retriever_of

    if not paths and index is None:
        raise CascadaError("There is nothing to ask: give files, folders or an index.")
    drops, counts = ratios(drop), whole_numbers(keep, "--keep")
    ranker = Ranker.load(model)
    reads = Reader.load(reader) if reader else None
    retriever = retriever_of(paths or [], index=index, scoring=scoring, report=complain, watch=watched)
    asker = Asker(retriever, ranker, reader=reads, language=language)
    found = asker.ask(question, top=top, paragraphs=paragraphs, drop=drops, keep=counts, deadline_ms=deadline_ms)
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    from rich.console import Console

    Console().print(found)
