"""`cascada index PATH… INDEX`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import AsJson
from cascada.core.errors import DataError

if TYPE_CHECKING:
    from cascada.search import Index


def index(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="Files and folders: .txt .md .html .pdf .jsonl.")
    ],
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index's folder; created if necessary.")],
    forget: Annotated[bool, typer.Option("--forget", help="Remove these files and folders from the index.")] = False,
    encode: Annotated[
        bool | None,
        typer.Option(
            "--encode/--no-encode",
            help="Encode what is new, for faster and better answers; by default if the index has encodings.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Encode by this decoupled ranker.  [default: the bundled model]")
    ] = None,
    language: Annotated[
        str, typer.Option(help="The documents' language, a two-letter code, for splitting sentences to encode.")
    ] = "en",
    as_json: AsJson = False,
) -> None:
    """Keep a search index of documents up to date: add new and changed files, and remove deleted ones."""
    from cascada.search import Index
    from cascada.search.files import find_files

    if forget:
        opened = Index(folder)
        counts = {"forgotten": opened.forget(paths)}
    else:
        files = find_files(paths)  # before an index is created: a mistyped path leaves nothing behind
        opened = Index(folder, create=True)
        counts = asdict(opened.update(paths, files=files, report=complain, watch=watched))
        if encode or (encode is None and opened.encodings):
            counts["encoded"] = _encode(opened, model, language, again=bool(encode))
    _print(opened, counts, as_json)


def _encode(index: Index, model: str | None, language: str, *, again: bool) -> int:
    """Encode new passages. Without `again`, with the model and language of the encodings that the index already has."""
    from cascada.cli.progress import progress

    if not again and index.encodings:
        index.encodings.encoder()  # rejects a model that has changed: nobody asked to encode everything again
        model, language = index.encodings.header.model, index.encodings.header.language
    try:
        with progress("encoding", total=len(index), unit="passages") as advance:
            return index.encode(model, language=language, advance=advance)
    except KeyboardInterrupt:
        print(f"cascada: {index.folder}: the same command resumes from here.", file=sys.stderr)
        raise


def complain(problem: DataError) -> None:
    """Report on stderr that a file is left out; the command continues."""
    print(f"cascada: left out: {problem}", file=sys.stderr)


def note(sentence: str) -> None:
    """Print a sentence on stderr; the command continues."""
    print(f"cascada: {sentence}", file=sys.stderr)


def watched(files: Sequence[Path]) -> Iterable[Path]:
    """Show a progress bar while files are read."""
    from cascada.cli.progress import shown

    return shown(files, "reading", total=len(files), unit="files")


def _print(index: Index, counts: dict[str, int], as_json: bool) -> None:
    size = {"files": len(index.files()), "passages": len(index)}
    if as_json:
        typer.echo(json.dumps(size | counts))
        return
    did = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())
    typer.echo(f"{index.folder}: {size['files']:,} files, {size['passages']:,} passages ({did})")
