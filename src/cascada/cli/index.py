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
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index's folder; made if it is not there.")],
    forget: Annotated[bool, typer.Option("--forget", help="Take these files and folders out of the index.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a search index of documents: new and changed files are read, those that are gone are forgotten."""
    from cascada.search import Index
    from cascada.search.documents import find_files

    if not forget:
        find_files(paths)  # a mistyped path is told before an index is made
    found = Index(folder, create=not forget)
    if forget:
        counts = {"forgotten": found.forget(paths)}
    else:
        counts = asdict(found.update(paths, report=complain, watch=watched))
    _print(found, counts, as_json)


def complain(problem: DataError) -> None:
    """A file that is left out, told on stderr; the command goes on."""
    print(f"cascada: left out: {problem}", file=sys.stderr)


def watched(files: Sequence[Path]) -> Iterable[Path]:
    from cascada.cli.progress import shown

    return shown(files, "reading", total=len(files), unit="files")


def _print(index: Index, counts: dict[str, int], as_json: bool) -> None:
    size = {"files": len(index.files()), "passages": len(index)}
    if as_json:
        typer.echo(json.dumps(size | counts))
        return
    did = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())
    typer.echo(f"{index.folder}: {size['files']:,} files, {size['passages']:,} passages ({did})")
