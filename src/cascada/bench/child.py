"""Measures one engine in a process of its own. Run as a file; JSON comes in and goes out, a line each.

    {"adapter": "flashrank", "folder": …, "texts": "texts.json", "max_length": 128, "settings": {…}}
        → {"load_seconds": …, "versions": {…}}
    {"candidates": 100}  → {"seconds": …, "peak_memory": …, …}

The first line loads the engine; each further one ranks the first so many candidates once. The peak is the largest
memory the process ever held so far, in bytes. Imports nothing of Cascada, so that any environment can run it.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer
    with suppress(OSError):  # if memory runs out, this process goes, and no one else's
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")

    def answer(found: dict[str, Any]) -> None:
        print(json.dumps(found), file=answers, flush=True)

    job = json.loads(sys.stdin.readline())
    texts = json.loads(Path(job["texts"]).read_text(encoding="utf-8"))
    adapter = runpy.run_path(str(Path(__file__).parent / "adapters" / f"{job['adapter']}.py"))
    started = time.perf_counter()
    rank = adapter["load"](Path(job["folder"]), job["max_length"], job["settings"])
    answer({"load_seconds": time.perf_counter() - started, "versions": versions(adapter["PARTS"])})
    for line in sys.stdin:
        candidates = texts["candidates"][: json.loads(line)["candidates"]]
        started = time.perf_counter()
        more = rank(texts["question"], candidates)
        answer({"seconds": time.perf_counter() - started, "peak_memory": peak_memory(), **(more or {})})


def versions(parts: tuple[str, ...]) -> dict[str, str]:
    from importlib import metadata

    found = {}
    for name in parts:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def peak_memory() -> int:
    """Not `getrusage`'s figure where there is another: it holds what the parent had at the fork."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
