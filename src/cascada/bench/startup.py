"""Startup times: imports, and a whole process that ranks once."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cascada.bench.process import ENVIRONMENT, ChildFailed
from cascada.core.probe import last_line, signal_name

IMPORT = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"

CROSS_ENCODER = """
import json, sys
from sentence_transformers import CrossEncoder
texts = json.load(open(sys.argv[2], encoding="utf-8"))
pairs = [(texts["question"], text) for text in texts["candidates"][: int(sys.argv[3])]]
CrossEncoder(sys.argv[1], device="cpu").predict(pairs, show_progress_bar=False)
"""


def import_time(python: str, module: str, *, repeats: int) -> float:
    """Seconds of `import module` in a new process, without the start of the interpreter."""
    return _median(lambda: float(_run([python, "-c", IMPORT.format(module=module)])), repeats)


def cold_rank(model: Path, texts: Path, candidates: int, *, repeats: int) -> float:
    """Seconds of `cascada rank` from its start to its end."""
    content = json.loads(texts.read_text(encoding="utf-8"))
    lines = "".join(text + "\n" for text in content["candidates"][:candidates])
    code = "from cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, "rank", content["question"], "-", "--model", str(model), "--json"]
    return _median(lambda: _timed(command, lines), repeats)


def cold_cross_encoder(python: str, folder: Path, texts: Path, candidates: int, *, repeats: int) -> float:
    """Seconds of a process that ranks the same candidates with sentence-transformers."""
    command = [python, "-c", CROSS_ENCODER, str(folder), str(texts), str(candidates)]
    return _median(lambda: _timed(command), repeats)


def _median(once: Callable[[], float], repeats: int) -> float:
    return statistics.median(once() for _ in range(repeats))


def _timed(command: Sequence[str], text: str = "") -> float:
    started = time.perf_counter()
    _run(command, text)
    return time.perf_counter() - started


def _run(command: Sequence[str], text: str = "") -> str:
    environment = os.environ | ENVIRONMENT
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", env=environment, check=False)
    if done.returncode < 0:
        raise ChildFailed(f"died by {signal_name(-done.returncode)}")
    if done.returncode:
        raise ChildFailed(last_line(done.stderr) or f"ended with exit code {done.returncode}")
    return done.stdout
