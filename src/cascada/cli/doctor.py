"""`cascada doctor`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cascada.cli.options import AsJson

if TYPE_CHECKING:
    from rich.console import Console


def doctor(as_json: AsJson = False) -> None:
    """Show what this machine can run, what is installed, and which engine is used."""
    from rich.console import Console

    from cascada.core.doctor import examine

    progress = Console(stderr=True)
    with progress.status("Looking around") as status:
        findings = examine(lambda name: status.update(f"Trying {name}"))
    if as_json:
        print(json.dumps(findings, indent=2))
    else:
        show(findings, Console())


def show(findings: dict[str, Any], console: Console) -> None:
    """Print the findings as a table."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, value in rows(findings):
        table.add_row(name, value)
    console.print(table, highlight=False, markup=False)
    for advice in findings["advice"]:
        console.print(f"→ {advice}", highlight=False, markup=False, soft_wrap=True)


def rows(findings: dict[str, Any]) -> list[tuple[str, str]]:
    from cascada.core.probe import ProbeResult

    cpu, memory = findings["cpu"], findings["memory"]
    advertised = [name for name, there in cpu["instructions"].items() if there]
    return [
        ("Cascada", f"{findings['cascada']} on Python {findings['python']}"),
        ("platform", findings["platform"]),
        ("processor", f"{cpu['model']}, {cpu['cores']} cores to use"),
        ("instructions", " ".join(advertised) or ("none of the fast ones" if cpu["instructions"] else "not known")),
        ("memory", f"{memory['total']} GB, {memory['free']} GB free" if memory["total"] else "not known"),
        *(
            (group, "  ".join(f"{name} {version or '(not installed)'}" for name, version in versions.items()))
            for group, versions in findings["parts"].items()
        ),
        *((name, str(ProbeResult(**probe))) for name, probe in findings["probes"].items()),
        *((f"to {job}", what) for job, what in findings["chosen"].items()),
    ]
