"""Report what was run, in `report.md` for people and `report.json` for programs. Both keep earlier results."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write
from cascada.reproduce.runner import CommandResult, Reproduction, slug

JSON_FILE, MARKDOWN_FILE = "report.json", "report.md"


def write_report(folder: Path, reproductions: Sequence[Reproduction], order: Sequence[str], root: Path) -> None:
    """Add the reproductions to the folder's report; a new one replaces the old one of the same name and size.

    `order` has the names of all tables and figures, in the order of the papers; links lead to pages below `root`.
    """
    by_slug = {slug(reproduction): reproduction for reproduction in [*read_report(folder), *reproductions]}
    places = {name: place for place, name in enumerate(order)}
    ordered = sorted(by_slug.values(), key=lambda entry: (places.get(entry.name, len(places)), entry.size))
    with atomic_write(folder / JSON_FILE) as file:
        json.dump({"results": [asdict(reproduction) for reproduction in ordered]}, file, indent=1, ensure_ascii=False)
    with atomic_write(folder / MARKDOWN_FILE) as file:
        file.write(markdown(ordered, os.path.relpath(root, folder.resolve())))


def read_report(folder: Path) -> list[Reproduction]:
    """The reproductions in the folder's report; none if there is no report."""
    path = folder / JSON_FILE
    if not path.exists():
        return []
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        return [
            Reproduction(**(result | {"commands": [_command_result(record) for record in result["commands"]]}))
            for result in results
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise CascadaError(
            f"{path} is not a report of `cascada reproduce` ({error}): give another --output."
        ) from error


def _command_result(record: dict[str, object]) -> CommandResult:
    return CommandResult(**(record | {"last_lines": tuple(record["last_lines"])}))  # type: ignore[arg-type]


def markdown(reproductions: Sequence[Reproduction], root: str) -> str:
    """An overview, then a section for each table and figure."""
    lines = ["# The papers' tables and figures, reproduced", ""]
    lines += ["| result | shows | size | commands | seconds | |", "|---|---|---|---|---|---|"]
    for entry in reproductions:
        count, seconds = str(len(entry.commands)), f"{entry.seconds:,.0f}"
        cells = (_link(entry), entry.shows, entry.size, count, seconds, state(entry))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, *(line for entry in reproductions for line in _section(entry, root))]) + "\n"


def state(reproduction: Reproduction) -> str:
    """The last column of the overview: done, failed, or nothing to run."""
    if reproduction.problem:
        return "**failed**"
    return "done" if reproduction.commands else "nothing to run"


def _title(reproduction: Reproduction) -> str:
    return f"{reproduction.title}, {reproduction.number} ({reproduction.size})"


def _link(reproduction: Reproduction) -> str:
    return f"[{reproduction.name}](#{slug(reproduction)})"


def _section(reproduction: Reproduction, root: str) -> Iterator[str]:
    yield from ("", f'<a id="{slug(reproduction)}"></a>', "", f"## {_title(reproduction)}", "")
    page = f"{root}/{reproduction.page}".replace(os.sep, "/")
    yield f"{reproduction.shows} ([{reproduction.page}]({page}))"
    if reproduction.note:
        yield from ("", reproduction.note)
    for done in reproduction.commands:
        yield from _command(done)
    if reproduction.problem:
        yield from ("", f"**Failed.** {reproduction.problem} The last lines:", "", *fenced(reproduction.last_lines))
    for picture in reproduction.pictures:
        yield from ("", f"![{reproduction.name}]({picture})")
    if reproduction.commands:
        yield from ("", _circumstances(reproduction))


def _command(done: CommandResult) -> Iterator[str]:
    how = f"{done.seconds:,.1f} s" if done.how == "ran" else done.how
    yield from ("", *fenced([f"$ {done.command}"]), "", f"({how})")
    if done.exit_code == 0:
        yield from blocks(done.output)


def blocks(output: str) -> Iterator[str]:
    """Markdown tables as tables, everything else as it was printed."""
    for is_table, lines in groupby(output.splitlines(), key=lambda line: line.startswith("|")):
        block = list(lines)
        if is_table:
            yield from ("", *block)
        elif any(line.strip() for line in block):
            yield from ("", *fenced(block))


def fenced(lines: Sequence[str]) -> list[str]:
    fence = "````" if any("```" in line for line in lines) else "```"
    return [f"{fence}text", *lines, fence]


def _circumstances(reproduction: Reproduction) -> str:
    machine = reproduction.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    return (
        f"{reproduction.finished}, {reproduction.seconds:,.0f} s; {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory']} GB; {versions}."
    )
