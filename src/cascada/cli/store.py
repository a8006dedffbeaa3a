"""`cascada store`: how large a store of encodings is, whether it is sound, and smaller if it has holes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import AsJson
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.store import Stats

app = typer.Typer(help="Stores of encodings: statistics, soundness, size.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="STORE", help="The store's folder.")]


@app.command()
def stats(folder: Folder, as_json: AsJson = False) -> None:
    """Count documents, tokens and bytes."""
    from cascada.store import Store
    from cascada.store import stats as counted

    found = counted(Store.open(folder))
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        _print_table(found)


@app.command()
def verify(
    folder: Folder,
    remove: Annotated[bool, typer.Option("--remove", help="Remove damaged entries: `encode` makes them anew.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check the file and every entry's checksum; damaged ones are named by the SHA-256 of their texts."""
    from cascada.cli.progress import progress
    from cascada.store import Store, check_structure, damaged

    check_structure(folder)
    store = Store.open(folder, write=remove)
    documents = len(store)
    with progress("verifying", total=documents, unit="texts") as advance:
        found = list(damaged(store, advance=advance))
    if remove:
        store.remove(found)
    names = [key.hex() for key in found]
    if as_json:
        typer.echo(json.dumps({"documents": documents, "damaged": names, "removed": remove}))
    else:
        typer.echo("\n".join([*names, f"{folder}: {documents:,} texts, {len(found):,} of them damaged{_did(remove)}"]))
    if found and not remove:
        raise CascadaError(f"{folder} has damaged entries: take them out with --remove, then `cascada encode` again.")


@app.command()
def compact(folder: Folder, as_json: AsJson = False) -> None:
    """Write the store anew without holes; others may read it meanwhile."""
    from cascada.store import Store

    store = Store.open(folder, write=True)
    before = store.file_bytes
    store.compact()
    after = store.file_bytes
    if as_json:
        typer.echo(json.dumps({"bytes_before": before, "bytes_after": after}))
    else:
        typer.echo(f"{folder}: {before:,} bytes before, {after:,} after")


def _did(remove: bool) -> str:
    return " and removed" if remove else ""


def _print_table(found: Stats) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", overflow="fold")
    for name, value in found.to_dict().items():
        shown = f"{value:,}" if isinstance(value, int | float) else value
        table.add_row(Text(name.replace("_", " ")), Text(shown))
    Console().print(table)
