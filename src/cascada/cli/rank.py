"""`cascada rank QUESTION [FILE]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cascada.cli.options import AsJson, Drop, Keep, Store, ratios, whole_numbers
from cascada.errors import CascadaError, DataError


def rank(
    question: Annotated[str, typer.Argument(help="The question.")],
    file: Annotated[
        Path | None, typer.Argument(help="Candidates, one a line, or JSONL with a “text”; - or none: stdin.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A ranker's folder, bm25, cosine:FOLDER, or two of them as A+B.")
    ] = None,
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
    """One candidate a line; lines that are JSON objects, if the first one is, are kept whole."""
    name = str(file) if file and str(file) != "-" else "stdin"
    try:
        content = sys.stdin.buffer.read() if name == "stdin" else Path(name).read_bytes()
    except OSError as error:
        raise CascadaError(f"{name} cannot be read: {error.strerror}.") from error
    lines = content.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n").split(b"\n") if content else []
    texts = [_text(line, name, number) for number, line in enumerate(lines, 1)]
    if not (texts and texts[0].lstrip().startswith("{")):
        return list(texts)
    return [_object(text, name, number) for number, text in enumerate(texts, 1)]


def _text(line: bytes, name: str, number: int) -> str:
    try:
        return line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError.at(name, number, f"not UTF-8 (byte {error.start + 1} of the line).") from None


def _object(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError.at(name, number, f"expected a JSON object with a “text”, found no JSON ({error}).") from None
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise DataError.at(name, number, "expected a JSON object with a “text” that is a string.")
    return value
