"""`cascada data squad-as2`: answer sentence selection from SQuAD, with the four labels of ASNQ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.asnq import check_input, print_labels
from cascada.cli.options import AsJson, Out, whole_numbers
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.data.spans import Paragraph


def squad_as2(
    source: Annotated[Path, typer.Argument(metavar="SQUAD_JSON", help="A file in SQuAD's layout, plain or .gz.")],
    out: Out,
    part: Annotated[
        str | None, typer.Option(help="train, dev or test: only the questions of this part of the articles.")
    ] = None,
    train: Annotated[float, typer.Option(help="With --part: share of the articles for training.")] = 0.8,
    dev: Annotated[float, typer.Option(help="With --part: share for the dev set; the rest is the test set.")] = 0.1,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Draw this many questions, spread over the articles.")
    ] = None,
    negatives: Annotated[
        int | None, typer.Option(min=1, help="For training: incorrect sentences per question, some of each label.")
    ] = None,
    labels: Annotated[str, typer.Option(help="With --negatives: only sentences with these labels.")] = "1,2,3",
    hard: Annotated[
        float, typer.Option(help="With --negatives: the share taken in the order of BM25; the rest is random.")
    ] = 0.5,
    seed: Annotated[int, typer.Option(help="Seed of the parts, the questions and the random negatives.")] = 0,
    as_json: AsJson = False,
) -> None:
    """List every sentence of a question's article as a candidate, labelled from 1 to 4 as in ASNQ; 4 is correct."""
    from cascada.cli.progress import shown
    from cascada.data import Statistics, write_jsonl
    from cascada.data.spans import read_paragraphs
    from cascada.data.squad_as2 import NegativeChoice, SquadAS2

    check_input(source)
    choice = NegativeChoice(negatives, tuple(whole_numbers(labels, "--labels") or ()), hard) if negatives else None
    paragraphs = _part(read_paragraphs(source), part, train, dev, seed)
    groups = SquadAS2(paragraphs, questions=questions, negatives=choice, seed=seed)
    counted = Statistics()
    write_jsonl(counted.counting(shown(groups, "labelling", total=len(groups), unit="questions")), out)
    if as_json:
        more = {"articles": len(groups.articles), "left_out": groups.left_out, "seed": seed}
        typer.echo(json.dumps({"path": str(out)} | counted.to_dict() | more))
        return
    print_labels({out.name.split(".")[0]: counted}, ("in the paragraph", "with the answer"))
    typer.echo(f"{len(groups.articles):,} articles, {counted.average_candidates:.1f} candidates per question")
    if groups.left_out:
        typer.echo(f"left out: {groups.left_out:,} questions whose answer is in no sentence")


def _part(paragraphs: list[Paragraph], part: str | None, train: float, dev: float, seed: int) -> list[Paragraph]:
    from cascada.data.open_qa import Shares, split_articles

    if part is None:
        return paragraphs
    parts = split_articles(paragraphs, Shares(train, dev), seed=seed)
    if part not in parts:
        raise CascadaError(f"--part takes {', '.join(parts)}, not {part!r}.")
    return parts[part]
