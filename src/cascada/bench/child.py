"""Measure one engine in a process of its own. Run as a script; requests and answers are JSON, one per line.

    {"adapter": "flashrank", "folder": …, "texts": "texts.json", "max_length": 128, "settings": {…}}
        → {"load_seconds": …, "versions": {…}}
    {"candidates": 100}                 → {"scores": […], "seconds": …, "peak_memory": …, …}
    {"question": 3, "candidates": 100}  → the same
    {"question": 3}                     → the same

The first line loads the engine and ranks two candidates. Each further line ranks once: the first `candidates` of the
timing list; a question of the data set with its own candidates; or that question with `candidates` texts, its own first
and then other questions'. `peak_memory` is the largest memory of the process so far, in bytes.
`scores` are numbers in the order of the ranking, one for each candidate. Imports nothing of Cascada, so that any
environment can run it.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import time
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is not an answer
    with suppress(OSError):  # if memory runs out, the system ends this process and no other
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")

    def answer(content: dict[str, Any]) -> None:
        print(json.dumps(content), file=answers, flush=True)

    job = json.loads(sys.stdin.readline())
    texts = json.loads(Path(job["texts"]).read_text(encoding="utf-8"))
    adapter = runpy.run_path(str(Path(__file__).parent / "adapters" / f"{job['adapter']}.py"))
    started = time.perf_counter()
    rank = adapter["load"](Path(job["folder"]), job["max_length"], job["settings"])
    rank(texts["question"], texts["candidates"][:2])  # an instruction that the processor lacks ends the process here
    answer({"load_seconds": time.perf_counter() - started, "versions": versions(adapter["PACKAGES"])})
    for line in sys.stdin:
        request = json.loads(line)
        question, candidates = asked(texts, request)
        started = time.perf_counter()
        scores, details = rank(question, candidates)
        measured = {"seconds": time.perf_counter() - started, "peak_memory": peak_memory(), **details}
        answer({**measured, "scores": [float(score) for score in scores]})


def asked(texts: dict[str, Any], request: dict[str, int]) -> tuple[str, list[str]]:
    """The question and the candidates of a request."""
    if "question" not in request:
        return texts["question"], texts["candidates"][: request["candidates"]]
    data, place = texts["data"], request["question"]
    question, candidates = data[place]
    count = request.get("candidates", len(candidates))
    far = place + len(data) // 2  # lists that stand side by side are often of the same document
    more = (text for step in range(len(data)) for text in data[(far + step) % len(data)][1])
    filled = islice(dict.fromkeys(chain(candidates, more)), count) if count > len(candidates) else candidates[:count]
    return question, list(filled)


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    from importlib import metadata

    installed = {}
    for name in packages:
        with suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed


def peak_memory() -> int:
    """The largest memory so far, from /proc if there is one: `getrusage` includes the parent's memory at the fork."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
