"""`cascada rank QUESTION [FILE]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cascada.cli.options import AsJson, Drop, Keep, Model, Store, ratios, whole_numbers
from cascada.data import check
from cascada.data.lines import Line, RawLine, lines


def rank(
    question: Annotated[str, typer.Argument(help="The question.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="Candidates, one per line, or JSONL with a “text”; by default, or with -, standard input."),
    ] = None,
    model: Model = None,
    top: Annotated[int | None, typer.Option(min=1, help="Show only this many candidates.")] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Show only candidates whose score, from 0 to 1, is at least this.")
    ] = None,
    store: Store = None,
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[
        float | None,
        typer.Option(help="Stop after this many milliseconds; --drop fit drops candidates to finish in time."),
    ] = None,
    cut: Annotated[str | None, typer.Option(help="gap: show only those before the widest gap in scores.")] = None,
    long: Annotated[
        str | None,
        typer.Option(help="Texts longer than the model reads: best (window), first (cut), error."),
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Read only this many tokens of each text.")] = None,
    prior: Annotated[
        float | None,
        typer.Option(
            help="Weight of the first stage's ranking: by “prior” in JSONL, else the order of lines; 2 is usual."
        ),
    ] = None,
    skip_if_sure: Annotated[
        float | None, typer.Option(help="Keep the order of “prior” if its best is this many deviations ahead.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show which candidates were dropped at which exit, and their scores.")
    ] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="With --explain: show all candidates, not only the first of each exit.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Rank candidate sentences by how well they answer the question."""
    from cascada.ranking import Ranker

    drop_ratios, counts = ratios(drop), whole_numbers(keep, "--keep")
    candidates = read_candidates(file)
    ranker = Ranker.load(model, store=store)
    ranking = ranker.rank(
        question,
        candidates,
        top=top,
        min_score=min_score,
        drop=drop_ratios,
        keep=counts,
        deadline_ms=deadline_ms,
        cut=cut,  # type: ignore[arg-type]
        long=long,  # type: ignore[arg-type]
        max_tokens=max_tokens,
        prior=prior,
        skip_if_sure=skip_if_sure,
    )
    if as_json:
        print(json.dumps(ranking.to_dict()))
        return
    from rich.console import Console

    from cascada.ranking.explain import Explanation

    Console().print(Explanation(ranking, show_all=show_all or top is not None) if explain else ranking)


def read_candidates(file: Path | None) -> list[str | dict[str, Any]]:
    """Read one candidate per line, ignoring empty lines at the end. If the first is a JSON object, all have to be."""
    rows = _stdin() if file is None or str(file) == "-" else list(lines(file))
    while rows and not rows[-1].text:
        rows.pop()
    if not (rows and rows[0].text.lstrip().startswith("{")):
        return [line.text for line in rows]
    return [_object(line) for line in rows]


def _stdin() -> list[Line]:
    return [RawLine("stdin", number, raw).decoded() for number, raw in enumerate(sys.stdin.buffer, 1)]


def _object(line: Line) -> dict[str, Any]:
    record = check.json_line(line)
    if not isinstance(record.get("text"), str):
        raise line.error("expected a JSON object with a “text” that is a string.")
    return record
