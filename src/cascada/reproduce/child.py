"""One command as a child process: seen while it runs, kept in a log, and its output for the report."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

WIDTH = 120
TAIL = 15
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Sink = Callable[[bytes], object]


@dataclass(frozen=True)
class Ended:
    exit_code: int
    seconds: float
    output: str
    """What it printed, without colours."""
    last_lines: tuple[str, ...]
    """Of what it said beside that; of its output, if it said nothing."""


def run(words: Sequence[str], folder: Path, log: Path, *, quick: bool = False) -> Ended:
    """Run it in the folder. Whatever it writes is shown on stderr as it comes, and added to the log."""
    started = time.perf_counter()
    with log.open("ab") as file:
        child = subprocess.Popen(
            words,
            cwd=folder,
            env=environment(quick=quick),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with child:
            assert child.stdout
            assert child.stderr
            output, beside = bytearray(), bytearray()
            sinks: list[Sink] = [file.write, _show]
            copying = Thread(target=_copy, args=(child.stderr, [beside.extend, *sinks]))
            copying.start()
            _copy(child.stdout, [output.extend, *sinks])
            copying.join()
    lines = [line for line in readable(beside or output).splitlines() if line.strip()]
    return Ended(child.returncode, time.perf_counter() - started, readable(output), tuple(lines[-TAIL:]))


def environment(*, quick: bool) -> dict[str, str]:
    """Tables as wide as a report, and progress bars if there is somebody to see them."""
    more = {"COLUMNS": str(WIDTH), "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
    if sys.stderr.isatty():
        more["FORCE_COLOR"] = "1"
    if quick:
        more["OMP_NUM_THREADS"] = "1"  # on models this small, a second thread only waits
    return {**os.environ, **more}


def readable(written: bytes | bytearray) -> str:
    """As a terminal would leave it: no colours, and of a line that was written over, what came last."""
    text = _CONTROL.sub("", bytes(written).decode("utf-8", "replace")).replace("\r\n", "\n")
    return "\n".join(line.rpartition("\r")[2].rstrip() for line in text.split("\n")).strip("\n")


def _copy(stream: IO[bytes], sinks: Sequence[Sink]) -> None:
    while chunk := os.read(stream.fileno(), 65536):
        for sink in sinks:
            sink(chunk)


def _show(chunk: bytes) -> None:
    sys.stderr.buffer.write(chunk)
    sys.stderr.buffer.flush()
