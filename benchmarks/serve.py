"""The server under load: correctness, throughput, and a comparison with a plain wrapper around a CrossEncoder.

    python benchmarks/serve.py MODEL [--peer TRAINED_FOLDER] [--clients 32] [--seconds 60] [--data DATA] [--json]

`cascada serve MODEL` runs as a process of its own, on loopback. Clients send one request after another to /v1/rank;
each response is compared with that of the same ranker, called directly. With `--exact` the scores must be the same;
without it they may differ a little, as those of int8 rankers do whose quantisation ranges depend on the batch. Then
three times as many clients as the queue has places show the behaviour under overload. With `--peer`, the same clients
call `serve_peer.py`, which has the same encoder weights, in both of its modes; the better one counts. Everything is
measured in turn, in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from serve_crowd import ResponseCheck, accept_all, crowd

from cascada import Ranker
from cascada.data import load

HERE = Path(__file__).parent
QUEUE = 64


def main() -> None:
    options = arguments()
    requests = requests_from(options)
    direct, expected = rank_directly(options, requests)
    results: dict[str, Any] = {"direct, requests/s": round(direct, 2)}
    with server_of(options) as (url, process):
        checks = [ResponseCheck(ranking, options.exact) for ranking in expected]
        bodies = [{"question": q, "candidates": texts, "drop": options.drop} for q, texts in requests]
        served = asyncio.run(crowd(f"{url}/v1/rank", bodies, checks, options.clients, options.seconds, process.pid))
        results["served"] = served.summary()
        overload = asyncio.run(
            crowd(f"{url}/v1/rank", bodies, checks, 3 * QUEUE, max(options.seconds / 6, 3), process.pid)
        )
        results["overload"] = overload.summary()
    results["served / direct"] = round(results["served"]["requests/s"] / direct, 3)
    print(table(results), file=sys.stderr)
    if options.peer:
        results |= peers(options, requests, results["served"]["requests/s"])
    print(json.dumps(results, indent=2) if options.json else table(results))
    statuses = served.statuses + overload.statuses
    sys.exit(bool(served.wrong + overload.wrong) or not set(statuses) <= {200, 429})


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a ranker, as for `cascada serve`")
    parser.add_argument(
        "--peer", type=Path, help="the trained folder (with torch weights) that MODEL was exported from"
    )
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--candidates", type=int, default=50)
    parser.add_argument("--drop", type=float, default=0.3)
    parser.add_argument("--data", default=str(HERE.parent / "examples" / "selqa.jsonl"))
    parser.add_argument("--root", help="the folder of the data set, if --data is a name")
    parser.add_argument("--exact", action="store_true", help="scores must be the same")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def requests_from(options: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """Each question with its own candidates, followed by other questions' until there are enough."""
    groups = list(load(options.data, root=options.root))[:64]
    texts = [text for group in groups for text in group.texts]
    count = options.candidates
    starts = np.cumsum([0, *(len(group.texts) for group in groups)])
    return [
        (group.question, [texts[(start + place) % len(texts)] for place in range(count)])
        for group, start in zip(groups, starts, strict=False)
    ]


def rank_directly(options: argparse.Namespace, requests: list[tuple[str, list[str]]]) -> tuple[float, list[Any]]:
    """Requests per second, one after another in this process; and the expected rankings."""
    ranker = Ranker.load(options.model)
    expected = [ranker.rank(*request, drop=options.drop) for request in requests]  # also the warm-up
    started, done = time.perf_counter(), 0
    for request in cycle(requests):
        ranker.rank(*request, drop=options.drop)
        done += 1
        if (spent := time.perf_counter() - started) > options.seconds:
            break
    del ranker
    gc.collect()
    return done / spent, expected


@contextmanager
def server_of(options: argparse.Namespace) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start the server; its address, once it is ready."""
    log = Path(os.environ.get("TMPDIR", "/tmp")) / f"cascada-serve-{os.getpid()}.log"
    command = [sys.executable, "-m", "cascada.cli.main", "serve", options.model, "--port", "0", "--queue", str(QUEUE)]
    with open(log, "w") as file:
        process = subprocess.Popen(command, stderr=file, text=True)
    try:
        url = f"http://127.0.0.1:{logged_event(log, process, 'listening')['port']}"
        logged_event(log, process, "ready")
        yield url, process
    finally:
        process.terminate()
        process.wait(60)
        log.unlink()


def logged_event(log: Path, process: subprocess.Popen[str], event: str) -> Any:
    while process.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith("{") and json.loads(line)["event"] == event:
                return json.loads(line)
        time.sleep(0.2)
    raise SystemExit(f"The server ended: {log.read_text()}")


def peers(options: argparse.Namespace, requests: list[tuple[str, list[str]]], ours: float) -> dict[str, Any]:
    modes = {}
    bodies = [{"query": question, "documents": texts} for question, texts in requests]
    checks = [accept_all] * len(bodies)
    for name, flags in {"peer": [], "peer, one at a time": ["--one-at-a-time"]}.items():
        command = [sys.executable, str(HERE / "serve_peer.py"), str(options.peer), *flags]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/rerank"
            load = asyncio.run(crowd(url, bodies, checks, options.clients, options.seconds, process.pid))
            modes[name] = {key: value for key, value in load.summary().items() if key not in ("wrong", "same order")}
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()
    best = max(mode["requests/s"] for mode in modes.values())
    return {**modes, "served / peer": round(ours / best, 2) if best else None}


def table(results: dict[str, Any]) -> str:
    rows = [f"{name:<24} {value}" for name, value in results.items() if not isinstance(value, dict)]
    for name, section in results.items():
        if isinstance(section, dict):
            rows += ["", name, *(f"  {key:<22} {value}" for key, value in section.items())]
    return "\n".join(rows)


if __name__ == "__main__":
    main()
