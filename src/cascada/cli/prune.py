"""`cascada prune QUESTION [FILE]`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.options import AsJson, Drop, Keep, Model, ratios, whole_numbers
from cascada.cli.rank import read_candidates


def prune(
    question: Annotated[str, typer.Argument(help="The question.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="Passages, one per line, or JSONL with a “text”; by default, or with -, standard input."),
    ] = None,
    model: Model = None,
    min_relative_score: Annotated[
        float | None,
        typer.Option(help="Keep sentences whose score is at least this share of the best one's; by default 0.4."),
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Keep only sentences whose score, from 0 to 1, is at least this.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Keep the best sentences of all passages, up to this many tokens.")
    ] = None,
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[float | None, typer.Option(help="Stop ranking after this many milliseconds.")] = None,
    language: Annotated[
        str, typer.Option(help="The passages' language, a two-letter code, for splitting sentences.")
    ] = "en",
    as_json: AsJson = False,
) -> None:
    """Cut passages down to the sentences that help to answer the question."""
    from cascada.ranking import Ranker

    drop_ratios, counts = ratios(drop), whole_numbers(keep, "--keep")
    passages = read_candidates(file)
    pruned = Ranker.load(model).prune(
        question,
        passages,
        min_score=min_score,
        min_relative_score=min_relative_score,
        budget=budget,
        drop=drop_ratios,
        keep=counts,
        deadline_ms=deadline_ms,
        language=language,
    )
    if as_json:
        print(json.dumps(pruned.to_dict()))
        return
    from rich.console import Console

    Console().print(pruned)
