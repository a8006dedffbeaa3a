"""What was run, as `report.md` for people and `report.json` for programs; results of earlier calls stay in both."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write
from cascada.reproduce.runner import Done, Outcome, slug

JSON_FILE, MARKDOWN_FILE = "report.json", "report.md"


def write_report(folder: Path, outcomes: Sequence[Outcome], order: Sequence[str], repository: Path) -> None:
    """Put the outcomes beside those that the folder's report has; one of the same result and size takes its place.

    `order` has the names of all results, in the order of the papers.
    """
    found = {slug(outcome): outcome for outcome in [*read_report(folder), *outcomes]}
    places = {name: place for place, name in enumerate(order)}
    ordered = sorted(found.values(), key=lambda one: (places.get(one.name, len(places)), one.size))
    with atomic_write(folder / JSON_FILE) as file:
        json.dump({"results": [asdict(outcome) for outcome in ordered]}, file, indent=1, ensure_ascii=False)
    with atomic_write(folder / MARKDOWN_FILE) as file:
        file.write(markdown(ordered, os.path.relpath(repository, folder.resolve())))


def read_report(folder: Path) -> list[Outcome]:
    path = folder / JSON_FILE
    if not path.exists():
        return []
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        return [Outcome(**(one | {"commands": [_done(done) for done in one["commands"]]})) for one in results]
    except (ValueError, KeyError, TypeError) as error:
        raise CascadaError(f"{path} is no report of ours ({error}): give another --output.") from error


def _done(record: dict[str, object]) -> Done:
    return Done(**(record | {"last_lines": tuple(record["last_lines"])}))  # type: ignore[arg-type]


def markdown(outcomes: Sequence[Outcome], repository: str) -> str:
    lines = ["# The papers' tables and figures, reproduced", ""]
    lines += ["| result | shows | size | commands | seconds | |", "|---|---|---|---|---|---|"]
    for one in outcomes:
        cells = (_link(one), one.shows, one.size, str(len(one.commands)), f"{one.seconds:,.0f}", state(one))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, *(line for one in outcomes for line in _section(one, repository))]) + "\n"


def state(outcome: Outcome) -> str:
    if outcome.problem:
        return "**failed**"
    return "done" if outcome.commands else "nothing to run"


def _title(outcome: Outcome) -> str:
    return f"{outcome.title}, {outcome.number} ({outcome.size})"


def _link(outcome: Outcome) -> str:
    return f"[{outcome.name}](#{slug(outcome)})"


def _section(outcome: Outcome, repository: str) -> Iterator[str]:
    yield from ("", f'<a id="{slug(outcome)}"></a>', "", f"## {_title(outcome)}", "")
    page = f"{repository}/{outcome.page}".replace(os.sep, "/")
    yield f"{outcome.shows} ([{outcome.page}]({page}))"
    if outcome.note:
        yield from ("", outcome.note)
    for done in outcome.commands:
        yield from _command(done)
    if outcome.problem:
        yield from ("", f"**Failed.** {outcome.problem} The last lines:", "", *fenced(outcome.last_lines))
    for picture in outcome.pictures:
        yield from ("", f"![{outcome.name}]({picture})")
    if outcome.commands:
        yield from ("", _circumstances(outcome))


def _command(done: Done) -> Iterator[str]:
    how = f"{done.seconds:,.1f} s" if done.how == "ran" else done.how
    yield from ("", *fenced([f"$ {done.command}"]), "", f"({how})")
    if done.exit_code == 0:
        yield from shown(done.output)


def shown(output: str) -> Iterator[str]:
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


def _circumstances(outcome: Outcome) -> str:
    about = outcome.machine
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items() if version)
    return (
        f"{outcome.finished}, {outcome.seconds:,.0f} s; {about['processor']}, {about['cores']} cores, "
        f"{about['memory']} GB; {versions}."
    )
