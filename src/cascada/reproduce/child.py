"""Run one command as a child process: show its output while it runs, write it to a log, and keep it for the report."""

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
"""Columns of the tables in a report."""
TAIL = 15
"""Lines of a failed command that the report quotes."""

_CONTROL_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Sink = Callable[[bytes], object]


@dataclass(frozen=True)
class ProcessResult:
    exit_code: int
    seconds: float
    output: str
    """Its stdout, without colours."""
    last_lines: tuple[str, ...]
    """The end of its stderr, or of its stdout if it wrote nothing to stderr."""


def run(words: Sequence[str], folder: Path, log: Path, *, quick: bool = False) -> ProcessResult:
    """Run the command in the folder. Copy its output to stderr and append it to the log as it arrives."""
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
            output, errors = bytearray(), bytearray()
            sinks: list[Sink] = [file.write, _show]
            copying = Thread(target=_copy, args=(child.stderr, [errors.extend, *sinks]))
            copying.start()
            _copy(child.stdout, [output.extend, *sinks])
            copying.join()
    lines = [line for line in readable(errors or output).splitlines() if line.strip()]
    return ProcessResult(child.returncode, time.perf_counter() - started, readable(output), tuple(lines[-TAIL:]))


def environment(*, quick: bool) -> dict[str, str]:
    """Tables as wide as a report, and progress bars if stderr is a terminal."""
    more = {"COLUMNS": str(WIDTH), "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
    if sys.stderr.isatty():
        more["FORCE_COLOR"] = "1"
    if quick:
        more["OMP_NUM_THREADS"] = "1"  # on models this small, a second thread only waits
    return {**os.environ, **more}


def readable(written: bytes | bytearray) -> str:
    """The text as a terminal would leave it: no colours, and only the last version of a line that was overwritten."""
    text = _CONTROL_SEQUENCE.sub("", bytes(written).decode("utf-8", "replace")).replace("\r\n", "\n")
    return "\n".join(line.rpartition("\r")[2].rstrip() for line in text.split("\n")).strip("\n")


def _copy(stream: IO[bytes], sinks: Sequence[Sink]) -> None:
    while chunk := os.read(stream.fileno(), 65536):
        for sink in sinks:
            sink(chunk)


def _show(chunk: bytes) -> None:
    sys.stderr.buffer.write(chunk)
    sys.stderr.buffer.flush()
