"""Try something in a process of its own, so that a crash there is an answer here.

A library may use an instruction that the processor, or the machine it is emulated on, does not have. Nothing in Python
can catch that: the process dies. So whoever wants to know tries it in a child.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "missing", "failed", "died", "timed out"]


@dataclass(frozen=True)
class Probe:
    """What became of it."""

    outcome: Outcome
    detail: str = ""
    """The last line it printed; of a death, the signal's name."""

    def __str__(self) -> str:
        if self.outcome == "ok":
            return self.detail or "ok"
        if self.outcome == "died":
            return f"died by {self.detail}"
        return f"{self.outcome}: {self.detail}" if self.detail else self.outcome


def probe(code: str, *, env: Mapping[str, str] | None = None, timeout: float = 120) -> Probe:
    """Run Python code in a child process, with `env` on top of this process's environment.

    >>> probe("print(1 + 1)")
    Probe(outcome='ok', detail='2')
    >>> str(probe("import os; os.abort()"))
    'died by SIGABRT'
    """
    environment = {**os.environ, "PYTHONSAFEPATH": "1", **(env or {})}  # a file torch.py here is not the library
    try:
        child = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Probe("timed out", f"no answer in {timeout:g} seconds")
    if child.returncode == 0:
        return Probe("ok", last_line(child.stdout))
    if child.returncode < 0:
        return Probe("died", signal_name(-child.returncode))
    problem = last_line(child.stderr) or f"exit code {child.returncode}"
    if problem.startswith("ModuleNotFoundError"):
        return Probe("missing", problem.removeprefix("ModuleNotFoundError: "))
    return Probe("failed", problem)


def last_line(text: str) -> str:
    """The last one with something on it."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def signal_name(number: int) -> str:
    """SIGILL for 4."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
