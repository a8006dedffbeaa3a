"""Malformed requests to every endpoint, and kills under load: the server must reject the former and survive the latter.

    python benchmarks/hostile.py [--requests 5000] [--seed 1] [--kills 5] [--model MODEL] [--json]

`cascada serve` runs as a process of its own, with an index and a cache. First, `--requests` malformed requests
of fifteen kinds (`hostile_requests.py`) go to all paths that take a body; each must get a response of 4xx within
`--patience` seconds, as JSON with a sentence. Then, `--kills` times, the server is killed with SIGKILL while clients
send valid requests, and started again with the same cache; every response that arrives must have the order of the
ranker's own. Exits with 1 if anything else happens.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from hostile_requests import Request, endpoints, malformed

from cascada import Ranker

DOCUMENTS = Path(__file__).parents[1] / "examples" / "documents"
CLIENTS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--model", default="cascada-mini")
    parser.add_argument("--patience", type=float, default=30.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        subprocess.run([sys.executable, "-m", "cascada.cli.main", "index", DOCUMENTS, index, "--json"], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        command = ["--index", str(index), "--cache", str(Path(folder) / "cache")]
        with served(options.model, command) as (http, _):
            rejected = reject(http, options.requests, options.seed, options.patience)
        killed = kill(options.model, command, options.kills)
    print(json.dumps({"rejected": rejected, "killed": killed}, indent=2) if options.json else table(rejected, killed))
    sys.exit(bool(rejected["wrong"] or killed["wrong"]))


@contextmanager
def served(model: str, command: list[str], port: int = 0) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """A server as a process of its own, once it is ready."""
    with socket.create_server(("127.0.0.1", port)) as free:
        port = free.getsockname()[1]
    arguments = [sys.executable, "-m", "cascada.cli.main", "serve", model, "--port", str(port), *command]
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL, text=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as http:
            wait_until_ready(http, process)
            yield http, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wait_until_ready(http: httpx.Client, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        try:
            if http.get("/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit("The server did not start.")


def reject(http: httpx.Client, count: int, seed: int, patience: float) -> dict[str, Any]:
    """Send malformed requests, and count the responses by status; `wrong` lists the first that are not as required."""
    statuses: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    wrong: list[str] = []
    slowest = 0.0
    known = endpoints(http.get("/openapi.json").json())
    for request in malformed(known, seed, count):
        started = time.perf_counter()
        problem, status = sent(http, request, patience)
        slowest = max(slowest, time.perf_counter() - started)
        statuses[str(status)] += 1
        kinds[request.kind] += 1
        if problem and len(wrong) < 20:
            wrong.append(f"{request.kind} {request.method} {request.path[:60]} {request.content[:200]!r}: {problem}")
    if http.get("/health").status_code != 200:
        wrong.append("the server is no longer alive")
    example = {"question": "who wrote hamlet?", "candidates": ["It rained."]}
    if http.post("/v1/rank", json=example).status_code != 200:
        wrong.append("a valid request is no longer answered")
    shown = {"requests": count, "seed": seed, "paths": len(known), "kinds": len(kinds), "slowest, s": round(slowest, 2)}
    return {**shown, "statuses": dict(sorted(statuses.items())), "wrong": wrong}


def sent(http: httpx.Client, request: Request, patience: float) -> tuple[str | None, int | str]:
    """What is wrong with the response, if anything, and its status."""
    try:
        response = http.request(
            request.method, request.path, content=request.content, headers=request.headers, timeout=patience
        )
    except httpx.TransportError as error:
        return f"no response: {type(error).__name__}", type(error).__name__
    if not 400 <= response.status_code < 500:
        return f"{response.status_code} {response.text[:200]}", response.status_code
    if "x-request-id" not in response.headers and response.status_code != 400:  # the HTTP parser's own 400 has none
        return "no request id", response.status_code
    return None, response.status_code


def kill(model: str, command: list[str], times: int) -> dict[str, Any]:
    """Kill the server under load, start it again, and compare all of its responses with the ranker's own results."""
    ranker = Ranker.load(model)
    lines = [line.strip() for file in sorted(DOCUMENTS.glob("*.txt")) for line in file.read_text().splitlines()]
    texts = [line for line in lines if line][:12]
    questions = ["who discovered oxygen?", "where does the rhine rise?", "when was the steam engine invented?"]
    expected = {question: [item.index for item in ranker.rank(question, texts)] for question in questions}
    counts: Counter[str] = Counter()
    for round_number in range(times + 1):
        with served(model, command) as (http, process), ThreadPoolExecutor(CLIENTS) as clients:
            work = [clients.submit(ask, http, expected, texts) for _ in range(CLIENTS)]
            if round_number < times:
                time.sleep(0.5 + 0.3 * round_number)
                process.kill()
            for part in work:
                counts.update(part.result())
    return {"kills": times, "responses": counts["right"], "cut off": counts["cut off"], "wrong": counts["wrong"]}


def ask(http: httpx.Client, expected: dict[str, list[int]], texts: list[str]) -> Counter[str]:
    """Send requests for two seconds, or until the connection fails."""
    counts: Counter[str] = Counter()
    end = time.monotonic() + 2
    while time.monotonic() < end:
        for question, order in expected.items():
            try:
                response = http.post("/v1/rank", json={"question": question, "candidates": texts})
            except httpx.TransportError:
                counts["cut off"] += 1
                return counts
            right = response.status_code == 200 and [item["index"] for item in response.json()["items"]] == order
            counts["right" if right else "wrong"] += 1
    return counts


def table(rejected: dict[str, Any], killed: dict[str, Any]) -> str:
    lines = [f"{name}: {value}" for name, value in rejected.items() if name != "wrong"]
    lines += [f"WRONG {problem}" for problem in rejected["wrong"]]
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in killed.items())])


if __name__ == "__main__":
    main()
