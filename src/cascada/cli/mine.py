"""`cascada data mine`: make a transfer set from questions that come only with their answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson, Out, Root, read_splits

if TYPE_CHECKING:
    from cascada.data import Group, Statistics
    from cascada.data.mining import MiningReport

Questions = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A known name (with --root), a file, NAME:FILE; or a file of questions.")
]


def mine(
    source: Questions,
    out: Out,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="train, dev, test …; several separated by commas.")] = None,
    sentences: Annotated[
        Path | None, typer.Option(help="SOURCE has one question per line; this file has the sentence that answers it.")
    ] = None,
    articles: Annotated[
        Path | None, typer.Option(help="With --sentences: the article of each line, or the titles in order.")
    ] = None,
    tokenised: Annotated[bool, typer.Option(help="With --sentences: undo tokenisation.")] = False,
    hard: Annotated[int, typer.Option(min=0, help="Negatives with the highest BM25 scores of all sentences.")] = 2,
    same: Annotated[
        int, typer.Option(min=0, help="Random negatives from the same article, or from nearby sentences.")
    ] = 1,
    other: Annotated[int, typer.Option(min=0, help="Random negatives from elsewhere.")] = 1,
    skip: Annotated[int, typer.Option(min=0, help="Skip this many of the highest BM25 scores.")] = 0,
    keep_negatives: Annotated[bool, typer.Option(help="Keep the negatives that the data already has.")] = False,
    jaccard: Annotated[float, typer.Option(help="Guard: largest Jaccard similarity with a correct sentence.")] = 0.5,
    containment: Annotated[
        float, typer.Option(help="Guard: largest share of the shorter sentence's words in common.")
    ] = 0.75,
    evidence: Annotated[
        float, typer.Option(help="Guard: largest share of the words that only the correct sentence adds.")
    ] = 0.15,
    answers: Annotated[
        Path | None, typer.Option(help="Guard: SQuAD JSON with the answer strings by question id.")
    ] = None,
    exclude_articles: Annotated[
        Path | None, typer.Option(help="A file of articles to leave out, one name per line.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random negatives.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Mine negatives for question-sentence pairs: hard ones, from the same article, and from elsewhere."""
    from cascada.cli.progress import shown
    from cascada.core.errors import CascadaError
    from cascada.data import Statistics, write_jsonl
    from cascada.data.mining import Guards, Miner, NegativeCounts, squad_answers

    if sentences is None and (articles or tokenised):
        raise CascadaError(
            "--articles and --tokenised belong to --sentences: without it, SOURCE has no parallel files."
        )
    wanted = NegativeCounts(hard, same, other, skip, keep_negatives)
    guards = Guards(jaccard, containment, evidence)
    known = squad_answers(answers) if answers else None
    source_groups = _paired(source, sentences, articles, tokenised) if sentences else read_splits(source, root, split)
    groups = list(shown(source_groups, f"reading {source}", unit="questions"))
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
    from cascada.data.readers.parallel import article_titles

    return groups if articles is None else list(excluding(groups, article_titles(articles)))


def _report(out: Path, counted: Statistics, report: MiningReport, more: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"path": str(out)} | counted.to_dict() | report.to_dict() | more))
        return
    typer.echo(f"{out}: {counted.questions:,} questions, {counted.pairs:,} pairs, {counted.positives:,} correct")
    shown = report.to_dict()
    for title, counts in (
        ("negatives", shown["negatives"]),
        ("refused by the guards", shown["refused"]),
        ("questions left out", shown["left_out"] | {"excluded": more["excluded"]}),
    ):
        typer.echo(f"{title}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
    if report.short:
        typer.echo(f"questions with fewer negatives than wanted: {report.short:,}")
