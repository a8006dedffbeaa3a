"""`cascada data asnq` converts Natural Questions to ASNQ; `asnq-split` splits its dev set in two."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.data import Statistics
    from cascada.data.natural_questions import Conversion, Splits


def convert(
    inputs: Annotated[
        list[Path], typer.Argument(help="Natural Questions files, simplified or original; .gz is decompressed.")
    ],
    out: Annotated[Path, typer.Argument(help="The file to write: .tsv or .tsv.gz.")],
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one per usable core.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Label every sentence of Natural Questions from 1 to 4, as ASNQ does; only label 4 answers the question."""
    from cascada.cli.progress import progress
    from cascada.core.processors import cores
    from cascada.data.natural_questions import line_results, write_asnq

    check_output(str(out))
    for path in inputs:
        check_input(path)
    size = sum(path.stat().st_size for path in inputs)
    with progress("converting", total=size, unit="bytes") as advance:
        done = write_asnq(line_results(inputs, workers=workers or cores(), advance=advance), out)
    report(done, out.name, str(out), as_json)


def report(done: Conversion, name: str, out: str, as_json: bool) -> None:
    """Print what was written to `out`; raise an error about what could not be converted."""
    if as_json:
        typer.echo(json.dumps({"path": out} | _as_dict(done)))
    else:
        print_labels({name.split(".")[0]: done.counted})
        for reason, count in done.skipped.items():
            typer.echo(f"left out: {count:,} with {reason.value}")
    _complain(done, out)


def split(
    source: Annotated[Path, typer.Argument(help="A file in ASNQ's layout, such as its dev.tsv.")],
    folder: Annotated[Path, typer.Argument(help="The folder for dev.tsv and test.tsv.")],
    dev: Annotated[Path | None, typer.Option(help="The questions of the dev set, one per line.")] = None,
    test: Annotated[Path | None, typer.Option(help="The questions of the test set, one per line.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Instead of lists: split the questions at random, with this seed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Split an ASNQ file into dev and test by question: by lists, or in halves."""
    from cascada.data.natural_questions import halved, listed, write_splits

    if dev and test and seed is None:
        chosen = listed({"dev": dev, "test": test})
    elif seed is not None and not dev and not test:
        chosen = halved(source, seed)
    else:
        raise CascadaError("Say how to split: by lists, --dev FILE and --test FILE, or in halves, --seed N.")
    done = write_splits(source, chosen, folder)
    if as_json:
        counted = {name: count.to_dict() | {"absent": done.absent[name]} for name, count in done.counted.items()}
        typer.echo(json.dumps(counted | {"unlisted": done.unlisted.to_dict()}, indent=2))
    else:
        print_labels(done.counted)
        _print_remarks(done)


def check_output(out: str) -> None:
    """Reject another ending: if OUT is forgotten, the last input takes its place."""
    if not out.endswith((".tsv", ".tsv.gz")):
        raise CascadaError(f"The last argument is the file to write, a .tsv or .tsv.gz; {out} is neither.")


def check_input(path: Path) -> None:
    """Reject folders and missing files."""
    if path.is_dir():
        raise CascadaError(f"{path} is a folder: name the files in it, such as {path}/*.jsonl.gz.")
    if not path.exists():
        raise CascadaError(f"There is no file {path}.")


def _as_dict(done: Conversion) -> dict[str, Any]:
    skipped = {reason.value: count for reason, count in done.skipped.items()}
    problems = {"problems": done.problems, "first_problems": [str(problem) for problem in done.first_problems]}
    return done.counted.to_dict() | {"skipped": skipped} | problems


def _complain(done: Conversion, out: str) -> None:
    """Raise an error that lists the first problems; everything else has been written by now."""
    if done.problems:
        unlisted = done.problems - len(done.first_problems)
        more = [f"… and {unlisted:,} more"] if unlisted else []
        raise CascadaError("\n".join([*map(str, done.first_problems), *more, f"{out} holds everything else."]))


def _print_remarks(done: Splits) -> None:
    if done.unlisted.pairs:
        typer.echo(f"in neither list: {done.unlisted.questions:,} questions, {done.unlisted.pairs:,} pairs")
    for name, absent in done.absent.items():
        if absent:
            typer.echo(f"in the list for {name} but not in the data: {absent:,} questions")


def print_labels(
    counted: Mapping[str, Statistics], criteria: tuple[str, str] = ("in the long answer", "with the short answer")
) -> None:
    """Print the counts in the layout of Table 1 of the TANDA paper; `criteria` head its second and third columns."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    for name in ("label", *criteria):
        table.add_column(name)
    for name in counted:
        table.add_column(Text(name), justify="right")
    for label, inside, answer in (("1", "no", "no"), ("2", "no", "yes"), ("3", "yes", "no"), ("4", "yes", "yes")):
        table.add_row(label, inside, answer, *(f"{count.grades.get(int(label), 0):,}" for count in counted.values()))
    table.add_section()
    table.add_row("pairs", "", "", *(f"{count.pairs:,}" for count in counted.values()))
    table.add_row("questions", "", "", *(f"{count.questions:,}" for count in counted.values()))
    Console().print(table)
