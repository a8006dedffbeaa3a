"""`cascada data openqa`: make an open-domain question answering set from SQuAD and other text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson, Root, read_splits
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.data import Group
    from cascada.data.open_qa import OpenQAReport, Pool, PoolParagraph
    from cascada.data.spans import Paragraph


def openqa(
    source: Annotated[Path, typer.Argument(metavar="SQUAD_JSON", help="Paragraphs, questions and answer spans.")],
    out: Annotated[Path, typer.Argument(help="Prefix of the files: data/openqa writes data/openqa-train.jsonl …")],
    more: Annotated[
        str | None,
        typer.Option(help="More text for the pool: a data set of questions with answer sentences."),
    ] = None,
    root: Root = None,
    split: Annotated[
        str | None, typer.Option(help="Of --more: train, dev, test …; several separated by commas.")
    ] = None,
    sentences: Annotated[int, typer.Option(min=1, help="Of --more: sentences per paragraph.")] = 4,
    paragraphs: Annotated[int, typer.Option(min=1, help="Paragraphs per question.")] = 80,
    scoring: Annotated[str, typer.Option(help="How paragraphs are retrieved: tfidf or bm25.")] = "tfidf",
    train: Annotated[float, typer.Option(help="Share of the articles for training.")] = 0.6,
    dev: Annotated[float, typer.Option(help="Share of the articles for the dev set; the rest is the test set.")] = 0.1,
    more_questions: Annotated[
        int, typer.Option(min=0, help="Training questions from --more, of articles that are not in SQUAD_JSON.")
    ] = 2000,
    more_paragraphs: Annotated[int, typer.Option(min=2, help="Paragraphs for each of them.")] = 20,
    test: Annotated[
        Path | None, typer.Option(help="SQuAD JSON with the test questions; the articles above are for train and dev.")
    ] = None,
    also: Annotated[
        Path | None, typer.Option(help="SQuAD JSON whose paragraphs are in the pool; its questions are not asked.")
    ] = None,
    passages: Annotated[
        Path | None, typer.Option(help='Further passages for the pool: {"id": title, "text"} per line, plain or .gz.')
    ] = None,
    train_questions: Annotated[int | None, typer.Option(min=1, help="Draw this many questions for training.")] = None,
    test_questions: Annotated[int | None, typer.Option(min=1, help="Draw this many each for dev and test.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split and of the questions drawn from --more.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Build the setting of the DC-BERT paper: a pool of paragraphs, and those retrieved for each question."""
    from cascada.cli.progress import shown
    from cascada.data import write_jsonl
    from cascada.data.open_qa import OpenQAReport, add_passages, build_pool, groups_of, with_questions
    from cascada.data.spans import read_paragraphs, write_paragraphs

    asked = read_paragraphs(source)
    parts = _parts(asked, test, train, dev, seed)
    _require_answers(parts)
    tested = parts["test"] if test else []
    counts = {"train": train_questions, "dev": test_questions, "test": test_questions}
    more_text = [replace(paragraph, questions=()) for paragraph in read_paragraphs(also)] if also else []
    others = list(shown(read_splits(more, root, split), f"reading {more}", unit="questions")) if more else []
    pool = build_pool([*asked, *tested, *more_text], others, length=sentences)
    if passages:
        add_passages(pool, passages)
    measured = {paragraph.title for name in ("dev", "test") for paragraph in parts[name]}
    known = pool.without(measured)  # training never sees dev or test articles, not even as incorrect candidates
    searches = {"train": _search(known, scoring), **dict.fromkeys(("dev", "test"), _search(pool.paragraphs, scoring))}
    pool.write(f"{out}-pool.jsonl")
    reports: dict[str, OpenQAReport] = {}
    for name, part in parts.items():
        members = with_questions(part, counts[name], seed=seed)
        write_paragraphs(members, f"{out}-{name}.json")
        groups = groups_of(members, pool, partial(searches[name], count=paragraphs), complete=name == "train")
        total = sum(len(paragraph.questions) for paragraph in members)
        reports[name] = OpenQAReport()
        write_jsonl(_counted(shown(groups, name, total=total, unit="questions"), reports[name]), f"{out}-{name}.jsonl")
    drawn = _drawn(pool, {paragraph.title for paragraph in asked}, more_questions, seed)
    if drawn:
        reports["more"] = OpenQAReport()
        quick = _search(known, "bm25")  # TF-IDF is a hundred times slower, and only the negatives depend on it
        groups = _more(drawn, pool, partial(quick, count=more_paragraphs))
        write_jsonl(
            _counted(shown(groups, "more", total=len(drawn), unit="questions"), reports["more"]), f"{out}-more.jsonl"
        )
    _report(
        out,
        pool,
        reports,
        {name: len({paragraph.title for paragraph in members}) for name, members in parts.items()},
        as_json,
    )


def _parts(
    asked: list[Paragraph], test: Path | None, train: float, dev: float, seed: int
) -> dict[str, list[Paragraph]]:
    from cascada.data.open_qa import Shares, split_articles, split_with_test
    from cascada.data.spans import read_paragraphs

    if test is None:
        return split_articles(asked, Shares(train, dev), seed=seed)
    return split_with_test(asked, read_paragraphs(test), dev, seed=seed)


def _require_answers(parts: dict[str, list[Paragraph]]) -> None:
    for name, paragraphs in parts.items():
        if not any(question.answers for paragraph in paragraphs for question in paragraph.questions):
            raise CascadaError(f"No {name} question has an answer: paragraphs are labelled by the words of the answer.")


def _search(paragraphs: Sequence[PoolParagraph], scoring: str) -> Callable[..., Sequence[PoolParagraph]]:
    from cascada.data.open_qa import PoolParagraph
    from cascada.search import MemoryRetriever, Passage
    from cascada.search.tfidf_index import TfIdfIndex

    if scoring == "tfidf":
        index = TfIdfIndex(paragraph.text for paragraph in paragraphs)
        return lambda question, count: [paragraphs[number] for number in index.best(question, count)]

    passages = [Passage(paragraph.text, paragraph.id, 0, len(paragraph.text)) for paragraph in paragraphs]
    retriever = MemoryRetriever(passages, scoring=scoring)
    return lambda question, count: [
        PoolParagraph(passage.document, passage.text) for passage in retriever.retrieve(question, count)
    ]


def _drawn(pool: Pool, titles: set[str], count: int, seed: int) -> list[str]:
    """Draw questions of --more whose articles are not in the SQuAD file, in the order of the data."""
    allowed = [question for question in pool.more if pool.own[question].rpartition("/")[0] not in titles]
    chosen = set(random.Random(seed).sample(allowed, min(count, len(allowed))))
    return [question for question in allowed if question in chosen]


def _more(questions: Sequence[str], pool: Pool, retrieve: Callable[[str], Sequence[PoolParagraph]]) -> Iterator[Any]:
    from cascada.data.open_qa import group_of

    paragraphs = {paragraph.id: paragraph for paragraph in pool.paragraphs}
    for identifier in questions:
        own = pool.own[identifier]
        question = pool.more[identifier].question
        yield group_of(identifier, question, own, retrieve, [paragraphs[own]], lambda text: False), own


def _counted(groups: Iterator[tuple[Group, str]], report: OpenQAReport) -> Iterator[Group]:
    for group, own in groups:
        report.add(group, own)
        yield group


def _report(out: Path, pool: Pool, reports: dict[str, OpenQAReport], articles: dict[str, int], as_json: bool) -> None:
    if as_json:
        counts = {name: {"articles": articles.get(name), **report.to_dict()} for name, report in reports.items()}
        typer.echo(json.dumps({"pool": len(pool.paragraphs), "repeated": pool.repeated, **counts}))
        return
    typer.echo(f"{out}-pool.jsonl: {len(pool.paragraphs):,} paragraphs ({pool.repeated:,} repeated sentences left out)")
    for name, report in reports.items():
        of = f"{articles[name]} articles, " if name in articles else ""
        typer.echo(
            f"{out}-{name}.jsonl: {of}{report.questions:,} questions, {report.candidates:,} pairs, "
            f"{report.correct:,} correct; "
            f"{report.answerable:,} questions have a correct one, {report.own_found:,} their own paragraph"
        )
