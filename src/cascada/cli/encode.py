"""`cascada encode MODEL CORPUS… STORE`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import AsJson, Language, Root, Split

if TYPE_CHECKING:
    from cascada.store import Encoder


def encode(
    model: Annotated[str, typer.Argument(help="A decoupled ranker, which encodes documents without the question.")],
    corpus: Annotated[
        list[str],
        typer.Argument(metavar="CORPUS…", help="Files and folders: .txt .md .html .pdf .jsonl; or a data set."),
    ],
    folder: Annotated[Path, typer.Argument(metavar="STORE", help="The store's folder; created if necessary.")],
    units: Annotated[
        str,
        typer.Option(help="What to encode: sentences (as `ask` ranks them), paragraphs, or a data set's candidates."),
    ] = "sentences",
    form: Annotated[
        str | None, typer.Option(help="Number format of a new store: int8, fp16 or fp32.  [default: int8]")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Encode in this many processes.")] = 1,
    bfloat16: Annotated[
        bool,
        typer.Option(help="Compute a trained ranker's encodings in 16 bits: faster where `doctor` shows bfloat16."),
    ] = False,
    language: Language = "en",
    root: Root = None,
    split: Split = None,
    as_json: AsJson = False,
) -> None:
    """Encode documents once, for all future questions. If interrupted, the same command resumes."""
    from cascada.cli.progress import progress
    from cascada.store import LoadedInEachProcess, fill, is_store, store_for

    encoder = LoadedInEachProcess(partial(encoder_of, model, bfloat16=bfloat16))
    store = store_for(encoder, folder, form) if is_store(folder) else None  # reject a wrong store before reading
    texts = texts_of(corpus, units, language=language, root=root, split=split)
    store = store_for(encoder, folder, form) if store is None else store
    try:
        with progress("encoding", total=len(texts), unit="texts") as advance:
            added = fill(store, encoder, texts, workers=workers, advance=advance)
    except KeyboardInterrupt:
        print(f"cascada: {folder} has {len(store):,} texts; the same command resumes from there.", file=sys.stderr)
        raise
    report(str(store.folder), len(store), added, len(texts) - added, as_json)


def encoder_of(model: str, *, bfloat16: bool = False) -> Encoder:
    """The document encoder of a ranker."""
    from cascada.systems.decoupled.engine import document_encoder
    from cascada.systems.load import folder_of

    return document_encoder(folder_of(model), bfloat16=bfloat16)


def texts_of(
    corpus: list[str], units: str, *, language: str = "en", root: Path | None = None, split: str | None = None
) -> list[str]:
    """The texts of a corpus, without repetitions."""
    from cascada.cli.index import complain, watched
    from cascada.search import read_passages
    from cascada.search.candidates import CANDIDATES, check_units, texts_in

    check_units(units, data_set=bool(root or split))
    if units == CANDIDATES:
        return _candidates(corpus, root, split)
    return texts_in(read_passages(corpus, report=complain, watch=watched), units, language)


def _candidates(corpus: list[str], root: Path | None, split: str | None) -> list[str]:
    from cascada.cli.progress import shown
    from cascada.data import read

    texts: dict[str, None] = {}
    for source in corpus:
        for group in shown(read(source, root=root, split=split), f"reading {source}", unit="questions"):
            texts.update(dict.fromkeys(group.texts))
    return list(texts)


def report(folder: str, documents: int, added: int, present: int, as_json: bool) -> None:
    """Print how many texts the store has, and how many were added."""
    if as_json:
        typer.echo(json.dumps({"documents": documents, "added": added, "present": present}))
    else:
        typer.echo(f"{folder}: {documents:,} texts ({added:,} added, {present:,} already there)")
