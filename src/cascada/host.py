"""What this machine survives, found out once in a child process and remembered.

Some virtual machines advertise instructions that fault. A library that uses them takes the whole process down, so it is
tried elsewhere first. The answer is kept for this processor and this version of the library.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import cache
from pathlib import Path

from cascada import doctor
from cascada.cache import cache_folder
from cascada.data.atomic import written
from cascada.errors import CascadaError
from cascada.probe import probe


@cache
def survives(what: str) -> bool:
    """Whether one of `cascada.doctor.PROBES` runs here."""
    known = _remembered()
    key = _key(what)
    if key not in known:
        outcome = probe(doctor.PROBES[what]).outcome
        if outcome not in ("ok", "died"):  # out of time or of memory: that may pass
            return False
        known[key] = outcome
        _remember(known)
    return known[key] == "ok"


def memory_file() -> Path:
    """Where the answers are remembered."""
    return cache_folder() / "host.json"


def _key(what: str) -> str:
    library = what.split()[0]
    machine = json.dumps([doctor.cpu()["model"], doctor.cpu()["instructions"]])
    return f"{what}, {doctor.version(library)}, {hashlib.sha256(machine.encode()).hexdigest()[:12]}"


def _remembered() -> dict[str, str]:
    try:
        known = json.loads(memory_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _remember(known: dict[str, str]) -> None:
    """Where nothing can be written, it is tried again next time."""
    with suppress(OSError, CascadaError):
        memory_file().parent.mkdir(parents=True, exist_ok=True)
        with written(memory_file()) as file:
            json.dump(known, file, indent=1)
