"""`cascada encode MODEL CORPUS… STORE`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import AsJson, Root, Split

if TYPE_CHECKING:
    from cascada.store import Encoder


def encode(
    model: Annotated[str, typer.Argument(help="A ranker that reads documents without the question.")],
    corpus: Annotated[
        list[str],
        typer.Argument(metavar="CORPUS…", help="Files and folders: .txt .md .html .pdf .jsonl; or a data set."),
    ],
    folder: Annotated[Path, typer.Argument(metavar="STORE", help="The store's folder; made if it is not there.")],
    units: Annotated[
        str,
        typer.Option(help="What is encoded: sentences (which `ask` ranks), paragraphs, or a data set's candidates."),
    ] = "sentences",
    form: Annotated[
        str | None, typer.Option(help="Numbers of a new store: int8, fp16 or fp32.  [default: int8]")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Encode in so many processes.")] = 1,
    language: Annotated[str, typer.Option(help="The documents' language, two letters: how sentences end.")] = "en",
    root: Root = None,
    split: Split = None,
    as_json: AsJson = False,
) -> None:
    """Encode documents once, for all questions to come. Stopped at any moment, it goes on when called again."""
    from cascada.cli.progress import progress
    from cascada.store import LoadedInEachProcess, fill, is_store, store_for

    encoder = LoadedInEachProcess(partial(encoder_of, model))
    store = store_for(encoder, folder, form) if is_store(folder) else None  # a wrong one is told before the reading
    texts = texts_of(corpus, units, language=language, root=root, split=split)
    store = store_for(encoder, folder, form) if store is None else store
    try:
        with progress("encoding", total=len(texts), unit="texts") as advance:
            added = fill(store, encoder, texts, workers=workers, advance=advance)
    except KeyboardInterrupt:
        print(f"cascada: {folder} has {len(store):,} texts; the same command goes on from there.", file=sys.stderr)
        raise
    report(str(store.folder), len(store), added, len(texts) - added, as_json)


def encoder_of(model: str) -> Encoder:
    """The documents' side of a ranker."""
    from cascada.systems.decoupled.engine import document_encoder

    return document_encoder(model)


def texts_of(
    corpus: list[str], units: str, *, language: str = "en", root: Path | None = None, split: str | None = None
) -> list[str]:
    """What is in a corpus, each text once."""
    from cascada.cli.index import complain, watched
    from cascada.search.documents import CANDIDATES, check_units, read_passages, texts_in

    check_units(units, data_set=bool(root or split))
    if units == CANDIDATES:
        return _candidates(corpus, root, split)
    return texts_in(read_passages(corpus, report=complain, watch=watched), units, language)


def _candidates(corpus: list[str], root: Path | None, split: str | None) -> list[str]:
    from cascada.cli.progress import shown
    from cascada.data import read

    found: dict[str, None] = {}
    for source in corpus:
        for group in shown(read(source, root=root, split=split), f"reading {source}", unit="questions"):
            found.update(dict.fromkeys(group.texts))
    return list(found)


def report(folder: str, documents: int, added: int, present: int, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"documents": documents, "added": added, "present": present}))
    else:
        typer.echo(f"{folder}: {documents:,} texts ({added:,} added, {present:,} there already)")
