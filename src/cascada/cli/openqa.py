"""`cascada data openqa`: open-domain question answering from SQuAD's questions and any other text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson, Root, read_splits

if TYPE_CHECKING:
    from cascada.data import Group
    from cascada.data.open_qa import Pool, Pooled, Report


def openqa(
    source: Annotated[Path, typer.Argument(metavar="SQUAD_JSON", help="Paragraphs, questions and answer spans.")],
    out: Annotated[Path, typer.Argument(help="How the files begin: data/openqa makes data/openqa-train.jsonl …")],
    more: Annotated[
        str | None,
        typer.Option(help="Other text for the pool: questions with their answer sentences, by name or file."),
    ] = None,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="Of --more: train, dev, test …; several with commas.")] = None,
    sentences: Annotated[int, typer.Option(min=1, help="Of --more: sentences to a paragraph.")] = 4,
    paragraphs: Annotated[int, typer.Option(min=1, help="How many paragraphs a question gets.")] = 80,
    scoring: Annotated[str, typer.Option(help="How they are found: tfidf or bm25.")] = "tfidf",
    train: Annotated[float, typer.Option(help="The share of the articles to train on.")] = 0.6,
    dev: Annotated[float, typer.Option(help="The share to choose by; the rest is for testing.")] = 0.1,
    more_questions: Annotated[
        int, typer.Option(min=0, help="Questions of --more to train on, from articles that SQUAD_JSON does not have.")
    ] = 2000,
    more_paragraphs: Annotated[int, typer.Option(min=2, help="How many paragraphs each of them gets.")] = 20,
    seed: Annotated[int, typer.Option(help="Which articles, and which questions: the same seed, the same files.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make the setting of the DC-BERT paper: a pool of paragraphs, and what a search engine finds in it."""
    from cascada.cli.progress import shown
    from cascada.data import write_jsonl
    from cascada.data.open_qa import Report, Shares, groups_of, pooled, split_articles
    from cascada.data.spans import read_paragraphs, write_paragraphs

    asked = read_paragraphs(source)
    parts = split_articles(asked, Shares(train, dev), seed=seed)
    others = list(shown(read_splits(more, root, split), f"reading {more}", unit="questions")) if more else []
    pool = pooled(asked, others, length=sentences)
    measured = {paragraph.title for name in ("dev", "test") for paragraph in parts[name]}
    known = pool.without(measured)  # in training nothing is seen of what is measured, not even as a wrong answer
    searches = {"train": _search(known, scoring), **dict.fromkeys(("dev", "test"), _search(pool.paragraphs, scoring))}
    pool.write(f"{out}-pool.jsonl")
    reports: dict[str, Report] = {}
    for name, members in parts.items():
        write_paragraphs(members, f"{out}-{name}.json")
        found = groups_of(members, pool, partial(searches[name], count=paragraphs), complete=name == "train")
        total = sum(len(paragraph.questions) for paragraph in members)
        reports[name] = Report()
        write_jsonl(_counted(shown(found, name, total=total, unit="questions"), reports[name]), f"{out}-{name}.jsonl")
    drawn = _drawn(pool, {paragraph.title for paragraph in asked}, more_questions, seed)
    if drawn:
        reports["more"] = Report()
        quick = _search(known, "bm25")  # TF-IDF takes a hundred times as long, and only the negatives depend on it
        found = _more(drawn, pool, partial(quick, count=more_paragraphs))
        write_jsonl(
            _counted(shown(found, "more", total=len(drawn), unit="questions"), reports["more"]), f"{out}-more.jsonl"
        )
    _tell(out, pool, reports, {name: len({one.title for one in members}) for name, members in parts.items()}, as_json)


def _search(paragraphs: Sequence[Pooled], scoring: str) -> Callable[..., Sequence[Pooled]]:
    from cascada.data.open_qa import Pooled
    from cascada.search import MemoryRetriever, Passage

    passages = [Passage(one.text, one.id, 0, len(one.text)) for one in paragraphs]
    retriever = MemoryRetriever(passages, scoring=scoring)
    return lambda question, count: [Pooled(one.document, one.text) for one in retriever.retrieve(question, count)]


def _drawn(pool: Pool, titles: set[str], count: int, seed: int) -> list[str]:
    """Questions of the other text whose articles the SQuAD file does not have, in the order of the data."""
    allowed = [question for question in pool.more if pool.own[question].rpartition("/")[0] not in titles]
    chosen = set(random.Random(seed).sample(allowed, min(count, len(allowed))))
    return [question for question in allowed if question in chosen]


def _more(questions: Sequence[str], pool: Pool, retrieve: Callable[[str], Sequence[Pooled]]) -> Iterator[Any]:
    from cascada.data.open_qa import group_of

    paragraphs = {one.id: one for one in pool.paragraphs}
    for identifier in questions:
        own = pool.own[identifier]
        question = pool.more[identifier].question
        yield group_of(identifier, question, own, retrieve, [paragraphs[own]], lambda text: False), own


def _counted(found: Iterator[tuple[Group, str]], report: Report) -> Iterator[Group]:
    for group, own in found:
        report.add(group, own)
        yield group


def _tell(out: Path, pool: Pool, reports: dict[str, Report], articles: dict[str, int], as_json: bool) -> None:
    if as_json:
        counts = {name: {"articles": articles.get(name), **report.as_dict()} for name, report in reports.items()}
        typer.echo(json.dumps({"pool": len(pool.paragraphs), "repeated": pool.repeated, **counts}))
        return
    typer.echo(f"{out}-pool.jsonl: {len(pool.paragraphs):,} paragraphs ({pool.repeated:,} repeated sentences left out)")
    for name, one in reports.items():
        of = f"{articles[name]} articles, " if name in articles else ""
        typer.echo(
            f"{out}-{name}.jsonl: {of}{one.questions:,} questions, {one.candidates:,} pairs, {one.correct:,} correct; "
            f"{one.answerable:,} questions have a correct one, {one.own_found:,} their own paragraph"
        )
