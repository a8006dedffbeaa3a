"""`cascada ask QUESTION PATH…`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.index import complain, note, watched
from cascada.cli.options import AsJson, Documents, Drop, Keep, KeptIndex, Language, Model, ratios, whole_numbers


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    paths: Documents = None,
    index: KeptIndex = None,
    model: Model = None,
    reader: Annotated[
        Path | None, typer.Option(help="A reader's folder: also show the short answer in each sentence.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Show this many answers.")] = 3,
    paragraphs: Annotated[int, typer.Option(min=1, help="Search for answers in this many paragraphs.")] = 80,
    scoring: Annotated[str, typer.Option(help="How paragraphs are retrieved: bm25 or tfidf.")] = "bm25",
    language: Language = "en",
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[
        float | None, typer.Option(help="Answer within this many milliseconds, not counting loading files and model.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Show only sentences whose score, from 0 to 1, is at least this.")
    ] = None,
    prior: Annotated[
        float | None, typer.Option(help="The weight of the search engine's scores; 0 leaves them out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from documents: the sentences that answer it best, and where they are."""
    from cascada.search import asker_of

    drop_ratios, counts = ratios(drop), whole_numbers(keep, "--keep")
    asker = asker_of(
        paths or [],
        index=index,
        ranker=model,
        reader=reader,
        scoring=scoring,
        language=language,
        report=complain,
        watch=watched,
        note=note,
    )
    answers = asker.ask(
        question,
        top=top,
        paragraphs=paragraphs,
        drop=drop_ratios,
        keep=counts,
        deadline_ms=deadline_ms,
        min_score=min_score,
        prior=prior,
    )
    if as_json:
        print(json.dumps(answers.to_dict()))
        return
    from rich.console import Console

    Console().print(answers)
