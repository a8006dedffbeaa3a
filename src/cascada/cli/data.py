"""`cascada data`: statistics of a data set, conversion to our own format, and label noise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli import asnq
from cascada.cli.mine import mine
from cascada.cli.openqa import openqa
from cascada.cli.options import AsJson, Depth, FirstStage, Out, Root, Source, Split
from cascada.cli.squad_as2 import squad_as2
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.data import Group, Mode, Statistics

app = typer.Typer(
    help="Data sets: statistics, conversion, label noise, mined negatives, open-domain QA.", no_args_is_help=True
)
app.command()(mine)
app.command()(openqa)

app.command("squad-as2")(squad_as2)
app.command("asnq")(asnq.convert)
app.command("asnq-split")(asnq.split)

ModeName = Annotated[str, typer.Option("--mode", help="raw, no-all-negative or clean.")]


@app.command()
def stats(
    source: Source,
    root: Root = None,
    split: Split = None,
    first_stage: FirstStage = None,
    depth: Depth = None,
    mode: Annotated[str | None, typer.Option(help="Only raw, no-all-negative or clean.")] = None,
    as_json: AsJson = False,
) -> None:
    """Count questions, pairs and correct candidates, per split and mode."""
    from cascada.data.statistics import MODES, parse_mode

    modes = (parse_mode(mode),) if mode else MODES
    names = _splits(source, root, split)
    raw = {name: _groups(source, root, part, "raw", first_stage, depth) for name, part in names.items()}
    counted = {name: _counted(groups, modes) for name, groups in raw.items()}
    if as_json:
        shown = {name: {mode: count.to_dict() for mode, count in by_mode.items()} for name, by_mode in counted.items()}
        typer.echo(json.dumps(shown, indent=2))
    else:
        _print_table(source, counted)
        _print_columns(source)


@app.command()
def convert(
    source: Source,
    out: Out,
    root: Root = None,
    split: Split = None,
    first_stage: FirstStage = None,
    depth: Depth = None,
    mode: ModeName = "raw",
    to: Annotated[str, typer.Option(help="jsonl or qrels.")] = "jsonl",
    questions: Annotated[
        int | None,
        typer.Option(min=1, help="Only a sample of this many, the same that `questions:` in a recipe draws."),
    ] = None,
    rest: Annotated[bool, typer.Option(help="With --questions: all others instead.")] = False,
    sample_seed: Annotated[int, typer.Option(min=0, help="With --questions: seed of the sample.")] = 0,
    skip: Annotated[int, typer.Option(min=0, help="Skip this many questions at the beginning.")] = 0,
    at_least: Annotated[int, typer.Option(min=0, help="Only questions with at least this many candidates.")] = 0,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="Only the first candidates of each question, this many at most.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a data set, or a part of it, in our own JSONL, or its labels as TREC qrels."""
    from cascada.data import Statistics, qrels, write_jsonl, write_qrels

    if to not in ("jsonl", "qrels"):
        raise CascadaError(f"--to takes jsonl or qrels, not {to!r}.")
    if rest and questions is None:
        raise CascadaError("--rest belongs to --questions: it writes the questions that the sample leaves.")
    counted = Statistics()
    groups = _groups(source, root, split, mode, first_stage, depth)
    if questions is not None:
        again = _groups(source, root, split, mode, first_stage, depth)
        drawn = _drawn(again, questions, sample_seed)
        groups = (group for position, group in enumerate(groups) if (position in drawn) != rest)
    groups = islice(groups, skip, None)
    groups = (
        replace(group, candidates=group.candidates[:candidates])
        for group in groups
        if len(group.candidates) >= at_least
    )
    groups = counted.counting(groups)
    if to == "jsonl":
        write_jsonl(groups, out)
    else:
        write_qrels(qrels(groups), out)
    _report(out, counted, {}, as_json)


@app.command()
def noise(
    source: Source,
    out: Out,
    share: Annotated[str, typer.Option(help="The share of labels to flip, such as 0.1.")],
    seed: Annotated[int, typer.Option(help="Determines which labels are flipped.")] = 0,
    root: Root = None,
    split: Split = None,
    mode: ModeName = "raw",
    as_json: AsJson = False,
) -> None:
    """Flip a share of the labels and write the result as JSONL."""
    from cascada.data import Statistics, flip_labels, statistics, write_jsonl
    from cascada.data.noise import noisy_pairs

    pairs = statistics(_groups(source, root, split, mode)).pairs
    flipped = noisy_pairs(share, pairs)
    counted = Statistics()
    noisy = flip_labels(_groups(source, root, split, mode), share, seed=seed, pairs=pairs)
    write_jsonl(counted.counting(noisy), out)
    _report(out, counted, {"flipped": flipped, "share": share, "seed": seed}, as_json)


@app.command()
def split(
    source: Annotated[str, typer.Argument(help="A file, NAME:FILE, or hf:ID.")],
    train: Annotated[Path, typer.Argument(help="The JSONL file to write for training.")],
    dev: Annotated[Path, typer.Argument(help="The JSONL file to write for choosing and tuning.")],
    share: Annotated[str, typer.Option(help="The share of questions for the dev file.")] = "0.1",
    seed: Annotated[int, typer.Option(help="Determines which questions are drawn.")] = 0,
    mode: ModeName = "raw",
    as_json: AsJson = False,
) -> None:
    """Split a file by question: no question is in both parts."""
    from cascada.data import Statistics, write_jsonl
    from cascada.data.split import draw_dev

    if train.resolve() == dev.resolve():
        raise CascadaError(f"{train} cannot be both the training and the dev file.")
    drawn = draw_dev(_groups(source, None, None, mode), share, seed=seed)
    counts = {path: Statistics() for path in (train, dev)}
    for path, counted in counts.items():
        members = (group for group in _identified(source, mode) if drawn(group) == (path is dev))
        write_jsonl(counted.counting(members), path)
    if as_json:
        parts = zip(("train", "dev"), counts.items(), strict=True)
        typer.echo(json.dumps({name: {"path": str(path)} | counted.to_dict() for name, (path, counted) in parts}))
        return
    for path, counted in counts.items():
        _report(path, counted, {}, as_json)


def _identified(source: str, mode: str) -> Iterator[Group]:
    """The groups with ids, so that a question has the same id in both parts of a split as in the whole."""
    from cascada.data import identified

    return identified(_groups(source, None, None, mode))


def _splits(source: str, root: Path | None, split: str | None) -> dict[str, str | None]:
    """The splits to count, by the name to show: those in the folder of a known data set, or a single file."""
    from cascada.data.catalog import CATALOG
    from cascada.data.read import split_files
    from cascada.data.readers import beir

    if split:
        return {split: split}
    if source == "beir" and root:
        return {name: name for name in beir.splits(root)}
    if source in CATALOG:
        return {name: name for name in split_files(source, root)}
    return {Path(source.split(":", 1)[-1]).name.split(".")[0] or source: None}


def _counted(groups: Iterator[Group], modes: tuple[Mode, ...]) -> dict[Mode, Statistics]:
    from cascada.data import statistics_by_mode

    counted = statistics_by_mode(groups)
    return {mode: counted[mode] for mode in modes}


def _groups(
    source: str,
    root: Path | None,
    split: str | None,
    mode: str,
    first_stage: str | None = None,
    depth: int | None = None,
) -> Iterator[Group]:
    """Stream the data with a progress bar; questions have the ids that `load` gives them."""
    from cascada.cli.progress import shown
    from cascada.data import identified, read, select
    from cascada.data.statistics import parse_mode

    wanted = parse_mode(mode)
    groups = read(source, root=root, split=split, first_stage=first_stage, depth=depth)
    if wanted != "raw":  # ids are assigned before questions are left out
        groups = select(identified(groups), wanted)
    return shown(groups, f"reading {source} {split or ''}".strip(), unit="questions")


def _drawn(groups: Iterator[Group], questions: int, seed: int) -> set[int]:
    """Positions of the questions that a sample has."""
    from cascada.data.sample import sample

    texts = enumerate(group.question for group in groups)
    return {position for position, _ in sample(texts, questions, lambda pair: pair[1], seed=seed)}


def _report(out: Path, counted: Statistics, more: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"path": str(out)} | counted.to_dict() | more))
        return
    flipped = f", {more['flipped']:,} labels flipped" if more else ""
    typer.echo(f"{out}: {counted.questions:,} questions, {counted.pairs:,} pairs{flipped}")


def _print_table(source: str, counted: dict[str, dict[Mode, Statistics]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(source), box=box.SIMPLE, caption="candidates and correct: per question, on average")
    table.add_column("split", no_wrap=True)
    table.add_column("mode", no_wrap=True)
    for name in ("questions", "pairs", "candidates", "correct"):
        table.add_column(name, justify="right")
    for split, by_mode in counted.items():
        for row, (mode, count) in enumerate(by_mode.items()):
            averages = (f"{average:.1f}" for average in (count.average_candidates, count.average_correct))
            shown = Text("" if row else split)
            table.add_row(shown, mode, f"{count.questions:,}", f"{count.pairs:,}", *averages)
        table.add_section()
    Console().print(table)


def _print_columns(source: str) -> None:
    """Which columns of a CSV file were read as what."""
    if source.lower().endswith((".csv", ".csv.gz")):
        from cascada.data.readers import csv

        names = csv.columns(source.removeprefix("csv:"))
        typer.echo("columns: " + ", ".join(f"{role} = {column}" for role, column in names.items()))
