"""The server under load: is every answer right, how many a second, and against a plain wrapper around a CrossEncoder.

    python benchmarks/serve.py MODEL [--peer TRAINED_FOLDER] [--clients 32] [--seconds 60] [--data DATA] [--json]

`cascada serve MODEL` runs as a process of its own, on loopback. Clients send one request after another to /v1/rank;
each answer is compared with that of the same ranker, called directly. With `--exact` scores must be the same; without
it they may differ a little, as those of rankers do whose 8-bit ranges depend on what is computed together. Then three
times as many clients as the queue has places show what overload looks like. With `--peer`, the same clients call
`serve_peer.py`, which has the same encoder weights, in both of its ways; the better one counts. Everything is measured
in turn, in one run.
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
from serve_crowd import Checked, always_right, crowd

from cascada import Ranker
from cascada.data import load

HERE = Path(__file__).parent
QUEUE = 64


def main() -> None:
    options = arguments()
    requests = requests_from(options)
    direct, expected = called_directly(options, requests)
    found: dict[str, Any] = {"direct, requests/s": round(direct, 2)}
    with server_of(options) as (url, process):
        checks = [Checked(ranking, options.exact) for ranking in expected]
        bodies = [{"question": q, "candidates": texts, "drop": options.drop} for q, texts in requests]
        served = asyncio.run(crowd(f"{url}/v1/rank", bodies, checks, options.clients, options.seconds, process.pid))
        found["served"] = served.told()
        overload = asyncio.run(
            crowd(f"{url}/v1/rank", bodies, checks, 3 * QUEUE, max(options.seconds / 6, 3), process.pid)
        )
        found["overload"] = overload.told()
    found["served / direct"] = round(found["served"]["requests/s"] / direct, 3)
    print(table(found), file=sys.stderr)
    if options.peer:
        found |= peers(options, requests, found["served"]["requests/s"])
    print(json.dumps(found, indent=2) if options.json else table(found))
    statuses = served.statuses + overload.statuses
    sys.exit(bool(served.wrong + overload.wrong) or not set(statuses) <= {200, 429})


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a ranker's folder, as for `cascada serve`")
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
    """Each question with its own candidates, and others' after them until there are enough."""
    groups = list(load(options.data, root=options.root))[:64]
    texts = [text for group in groups for text in group.texts]
    count = options.candidates
    starts = np.cumsum([0, *(len(group.texts) for group in groups)])
    return [
        (group.question, [texts[(start + place) % len(texts)] for place in range(count)])
        for group, start in zip(groups, starts, strict=False)
    ]


def called_directly(options: argparse.Namespace, requests: list[tuple[str, list[str]]]) -> tuple[float, list[Any]]:
    """Requests a second, one after another in this process; and the right answers."""
    ranker = Ranker.load(options.model)
    expected = [ranker.rank(*asked, drop=options.drop) for asked in requests]  # warms up, too
    started, done = time.perf_counter(), 0
    for asked in cycle(requests):
        ranker.rank(*asked, drop=options.drop)
        done += 1
        if (spent := time.perf_counter() - started) > options.seconds:
            break
    del ranker
    gc.collect()
    return done / spent, expected


@contextmanager
def server_of(options: argparse.Namespace) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The server's address once it is ready."""
    log = Path(os.environ.get("TMPDIR", "/tmp")) / f"cascada-serve-{os.getpid()}.log"
    command = [sys.executable, "-m", "cascada.cli.main", "serve", options.model, "--port", "0", "--queue", str(QUEUE)]
    with open(log, "w") as file:
        process = subprocess.Popen(command, stderr=file, text=True)
    try:
        url = f"http://127.0.0.1:{told_in(log, process, 'listening')['port']}"
        told_in(log, process, "ready")
        yield url, process
    finally:
        process.terminate()
        process.wait(60)
        log.unlink()


def told_in(log: Path, process: subprocess.Popen[str], event: str) -> Any:
    while process.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith("{") and json.loads(line)["event"] == event:
                return json.loads(line)
        time.sleep(0.2)
    raise SystemExit(f"The server ended: {log.read_text()}")


def peers(options: argparse.Namespace, requests: list[tuple[str, list[str]]], ours: float) -> dict[str, Any]:
    found = {}
    bodies = [{"query": question, "documents": texts} for question, texts in requests]
    checks = [always_right] * len(bodies)
    for name, more in {"peer": [], "peer, one at a time": ["--one-at-a-time"]}.items():
        command = [sys.executable, str(HERE / "serve_peer.py"), str(options.peer), *more]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/rerank"
            load = asyncio.run(crowd(url, bodies, checks, options.clients, options.seconds, process.pid))
            found[name] = {key: value for key, value in load.told().items() if key not in ("wrong", "same order")}
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()
    best = max(one["requests/s"] for one in found.values())
    return {**found, "served / peer": round(ours / best, 2) if best else None}


def table(found: dict[str, Any]) -> str:
    rows = [f"{name:<24} {value}" for name, value in found.items() if not isinstance(value, dict)]
    for name, about in found.items():
        if isinstance(about, dict):
            rows += ["", name, *(f"  {key:<22} {value}" for key, value in about.items())]
    return "\n".join(rows)


if __name__ == "__main__":
    main()
