"""`cascada store`: statistics, verification and compaction of stores of encodings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import AsJson
from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.store import Stats

app = typer.Typer(help="Stores of encodings: statistics, verification, compaction.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="STORE", help="The store's folder.")]


@app.command()
def stats(folder: Folder, as_json: AsJson = False) -> None:
    """Count documents, tokens and bytes."""
    from cascada.store import Store
    from cascada.store import stats as statistics_of

    statistics = statistics_of(Store.open(folder))
    if as_json:
        typer.echo(json.dumps(statistics.to_dict()))
    else:
        _print_table(statistics)


@app.command()
def verify(
    folder: Folder,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove damaged entries; `cascada encode` adds them again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check the file and the checksum of every entry; damaged entries are listed by the SHA-256 of their texts."""
    from cascada.cli.progress import progress
    from cascada.store import Store, check_structure, damaged_keys

    check_structure(folder)
    store = Store.open(folder, write=remove)
    documents = len(store)
    with progress("verifying", total=documents, unit="texts") as advance:
        damaged = list(damaged_keys(store, advance=advance))
    if remove:
        store.remove(damaged)
    names = [key.hex() for key in damaged]
    if as_json:
        typer.echo(json.dumps({"documents": documents, "damaged": names, "removed": remove}))
    else:
        removed = " and removed" if remove else ""
        summary = f"{folder}: {documents:,} texts, {len(damaged):,} of them damaged{removed}"
        typer.echo("\n".join([*names, summary]))
    if damaged and not remove:
        raise CascadaError(f"{folder} has damaged entries: remove them with --remove, then run `cascada encode` again.")


@app.command()
def compact(folder: Folder, as_json: AsJson = False) -> None:
    """Rewrite the store without unused space; it can be read meanwhile."""
    from cascada.store import Store

    store = Store.open(folder, write=True)
    before = store.file_bytes
    store.compact()
    after = store.file_bytes
    if as_json:
        typer.echo(json.dumps({"bytes_before": before, "bytes_after": after}))
    else:
        typer.echo(f"{folder}: {before:,} bytes before, {after:,} after")


def _print_table(statistics: Stats) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", overflow="fold")
    for name, value in statistics.to_dict().items():
        shown = f"{value:,}" if isinstance(value, int | float) else value
        table.add_row(Text(name.replace("_", " ")), Text(shown))
    Console().print(table)
