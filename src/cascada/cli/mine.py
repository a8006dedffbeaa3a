"""`cascada data mine`: a transfer set from questions that come with their answers only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson, Out, Root, read_splits

if TYPE_CHECKING:
    from cascada.data import Group, Statistics
    from cascada.data.mining import Report

Questions = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A known name (with --root), a file, NAME:FILE; or a file of questions.")
]


def mine(
    source: Questions,
    out: Out,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; several with commas.")] = None,
    sentences: Annotated[
        Path | None, typer.Option(help="SOURCE holds a question a line; this file the sentence that answers it.")
    ] = None,
    articles: Annotated[
        Path | None, typer.Option(help="With --sentences: the article of each line, or the titles in their order.")
    ] = None,
    tokenised: Annotated[bool, typer.Option(help="With --sentences: undo a tokeniser's work.")] = False,
    hard: Annotated[int, typer.Option(min=0, help="Negatives with the best BM25 scores of all sentences.")] = 2,
    same: Annotated[int, typer.Option(min=0, help="Random negatives from the same article, or the neighbourhood.")] = 1,
    other: Annotated[int, typer.Option(min=0, help="Random negatives from elsewhere.")] = 1,
    skip: Annotated[int, typer.Option(min=0, help="Leave out this many of the best by BM25.")] = 0,
    keep_negatives: Annotated[bool, typer.Option(help="Keep the negatives that the data has.")] = False,
    jaccard: Annotated[float, typer.Option(help="Guard: share of common words with a correct sentence.")] = 0.5,
    containment: Annotated[float, typer.Option(help="Guard: share of the shorter sentence's words.")] = 0.75,
    evidence: Annotated[float, typer.Option(help="Guard: share of what only the correct sentence says.")] = 0.15,
    answers: Annotated[Path | None, typer.Option(help="Guard: SQuAD JSON with the answer strings, by id.")] = None,
    exclude_articles: Annotated[Path | None, typer.Option(help="Leave out these articles, a name a line.")] = None,
    seed: Annotated[int, typer.Option(help="Which random ones: the same seed, the same file.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Mine negatives for question-sentence pairs: hard ones, from the same article, from elsewhere."""
    from cascada.cli.progress import shown
    from cascada.core.errors import CascadaError
    from cascada.data import Statistics, write_jsonl
    from cascada.data.mining import Guards, Miner, Wanted, squad_answers

    if sentences is None and (articles or tokenised):
        raise CascadaError("--articles and --tokenised belong to --sentences: SOURCE has no parallel files without it.")
    wanted = Wanted(hard, same, other, skip, keep_negatives)
    guards = Guards(jaccard, containment, evidence)
    known = squad_answers(answers) if answers else None
    found = _paired(source, sentences, articles, tokenised) if sentences else read_splits(source, root, split)
    groups = list(shown(found, f"reading {source}", unit="questions"))
    included = _without(groups, exclude_articles)
    miner = Miner(included, wanted, guards=guards, answers=known, seed=seed)
    counted = Statistics()
    write_jsonl(counted.counting(shown(miner, "mining", total=len(miner), unit="questions")), out)
    _report(out, counted, miner.report, {"excluded": len(groups) - len(included), "seed": seed}, as_json)


def _paired(questions: str, sentences: Path, articles: Path | None, tokenised: bool) -> Iterator[Group]:
    from cascada.data.readers import parallel

    return parallel.read(questions, sentences, articles=articles, tokenised=tokenised)


def _without(groups: list[Group], articles: Path | None) -> list[Group]:
    from cascada.data.mining import excluding
    from cascada.data.readers.parallel import names

    return groups if articles is None else list(excluding(groups, names(articles)))


def _report(out: Path, counted: Statistics, report: Report, more: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"path": str(out)} | counted.as_dict() | report.as_dict() | more))
        return
    typer.echo(f"{out}: {counted.questions:,} questions, {counted.pairs:,} pairs, {counted.positives:,} correct")
    shown = report.as_dict()
    for title, counts in (
        ("negatives", shown["negatives"]),
        ("refused by the guards", shown["refused"]),
        ("questions left out", shown["left_out"] | {"excluded": more["excluded"]}),
    ):
        typer.echo(f"{title}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
    if report.short:
        typer.echo(f"questions with fewer negatives than wanted: {report.short:,}")
