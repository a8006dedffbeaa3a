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
    _print(opened, counts, as_json)


def complain(problem: DataError) -> None:
    """Report on stderr that a file is left out; the command continues."""
    print(f"cascada: left out: {problem}", file=sys.stderr)


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
