"""Find out which libraries run on this processor, by trying them in a child process.

A library may use an instruction that the processor, or the emulator underneath, does not have. Python cannot catch
that: the process dies. A probe therefore runs in a child process, and `can_run` remembers its outcome on disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write, cache_folder
from cascada.core.processors import cpu

TINY_MODEL = (
    "CAc6XAoYCgFhCgFiEgFjIg1NYXRNdWxJbnRlZ2VyEgFnWhMKAWESDgoMCAISCAoCCEAKAghAWhMKAWISDgoMCAMSCAoCCEAKAghAYhMKAWMSDgoM"
    "CAYSCAoCCEAKAghAQgQKABAN"
)
"""An ONNX model in base64: one int8 matrix product (MatMulInteger) of 64 × 64."""

PROBES = {
    "torch float32": """
import torch
ones = torch.ones(256, 256)
assert float((ones @ ones)[0, 0]) == 256
device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
print(f"{device}, {torch.get_num_threads()} threads")
""",
    "torch bfloat16": """
import torch
ones = torch.ones(256, 256, dtype=torch.bfloat16)
assert float((ones @ ones)[0, 0]) == 256
""",
    "onnxruntime int8": f"""
import base64, onnxruntime, numpy
session = onnxruntime.InferenceSession(base64.b64decode("{TINY_MODEL}"), providers=["CPUExecutionProvider"])
ones = numpy.ones((64, 64))
(product,) = session.run(None, {{"a": ones.astype("uint8"), "b": ones.astype("int8")}})
assert product[0, 0] == 64
""",
}
"""Code that uses the instructions in question. The first word of a name is the library's."""

ProbeOutcome = Literal["ok", "missing", "failed", "died", "timed out"]


@dataclass(frozen=True)
class ProbeResult:
    """How a probe ended."""

    outcome: ProbeOutcome
    detail: str = ""
    """The last line it printed, or the name of the signal that killed it."""

    def __str__(self) -> str:
        if self.outcome == "ok":
            return self.detail or "ok"
        if self.outcome == "died":
            return f"died by {self.detail}"
        return f"{self.outcome}: {self.detail}" if self.detail else self.outcome


def probe(code: str, *, env: Mapping[str, str] | None = None, timeout: float = 120) -> ProbeResult:
    """Run Python code in a child process, with `env` on top of this process's environment.

    >>> probe("print(1 + 1)")
    ProbeResult(outcome='ok', detail='2')
    >>> str(probe("import os; os.abort()"))
    'died by SIGABRT'
    """
    environment = {**os.environ, "PYTHONSAFEPATH": "1", **(env or {})}  # a torch.py in this folder is not the library
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
        return ProbeResult("timed out", f"no answer in {timeout:g} seconds")
    if child.returncode == 0:
        return ProbeResult("ok", last_line(child.stdout))
    if child.returncode < 0:
        return ProbeResult("died", signal_name(-child.returncode))
    problem = last_line(child.stderr) or f"exit code {child.returncode}"
    if problem.startswith("ModuleNotFoundError"):
        return ProbeResult("missing", problem.removeprefix("ModuleNotFoundError: "))
    return ProbeResult("failed", problem)


@cache
def can_run(name: str) -> bool:
    """Whether the probe `PROBES[name]` succeeds on this processor, with this version of the library."""
    outcomes = _remembered_outcomes()
    key = _outcome_key(name)
    if key not in outcomes:
        outcome = probe(PROBES[name]).outcome
        if outcome not in ("ok", "died"):  # too slow or out of memory: it may succeed next time
            return False
        outcomes[key] = outcome
        _remember(outcomes)
    return outcomes[key] == "ok"


def outcomes_file() -> Path:
    """The file in which `can_run` remembers outcomes."""
    return cache_folder() / "host.json"


def installed_version(package: str) -> str | None:
    """Version of an installed package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def signal_name(number: int) -> str:
    """The signal's name, such as SIGILL for 4."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _outcome_key(name: str) -> str:
    library, processor = name.split()[0], cpu()
    machine = json.dumps([processor["model"], processor["instructions"]])
    return f"{name}, {installed_version(library)}, {hashlib.sha256(machine.encode()).hexdigest()[:12]}"


def _remembered_outcomes() -> dict[str, str]:
    try:
        outcomes = json.loads(outcomes_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return outcomes if isinstance(outcomes, dict) else {}


def _remember(outcomes: dict[str, str]) -> None:
    """Write the outcomes; if that is not possible, the next process probes again."""
    with suppress(OSError, CascadaError):
        outcomes_file().parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(outcomes_file()) as file:
            json.dump(outcomes, file, indent=1)
