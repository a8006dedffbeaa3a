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
        Path | None, typer.Argument(help="Candidates, one a line, or JSONL with a “text”; - or none: stdin.")
    ] = None,
    model: Model = None,
    top: Annotated[int | None, typer.Option(min=1, help="Show only the first so many.")] = None,
    store: Store = None,
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[
        float | None, typer.Option(help="Stop after so many milliseconds; --drop fit drops what it takes to be done.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show who left at which exit, with the scores.")] = False,
    everyone: Annotated[
        bool, typer.Option("--all", help="With --explain: show everyone, not long tails summed up.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Rank candidate sentences by how well they answer the question."""
    from cascada.ranking import Ranker

    drops, counts = ratios(drop), whole_numbers(keep, "--keep")
    candidates = read_candidates(file)
    ranker = Ranker.load(model, store=store)
    ranking = ranker.rank(question, candidates, top=top, drop=drops, keep=counts, deadline_ms=deadline_ms)
    if as_json:
        print(json.dumps(ranking.to_dict()))
        return
    from rich.console import Console

    from cascada.ranking.explain import Explanation

    Console().print(Explanation(ranking, everyone=everyone or top is not None) if explain else ranking)


def read_candidates(file: Path | None) -> list[str | dict[str, Any]]:
    """One candidate a line, without empty lines at the end; if the first one is a JSON object, all have to be."""
    found = _stdin() if file is None or str(file) == "-" else list(lines(file))
    while found and not found[-1].text:
        found.pop()
    if not (found and found[0].text.lstrip().startswith("{")):
        return [line.text for line in found]
    return [_object(line) for line in found]


def _stdin() -> list[Line]:
    return [RawLine("stdin", number, raw).decoded() for number, raw in enumerate(sys.stdin.buffer, 1)]


def _object(line: Line) -> dict[str, Any]:
    record = check.json_line(line)
    if not isinstance(record.get("text"), str):
        raise line.error("expected a JSON object with a “text” that is a string.")
    return record
