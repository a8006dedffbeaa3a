"""A crowd of concurrent clients for `serve.py`, and what they measure."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

TOLERANCE = 1e-3
"""Largest difference of raw scores if products are exact."""

MIN_CORRELATION = 0.95
"""Of raw scores otherwise."""

Check = Callable[[Any], tuple[bool, bool]]
"""response → (correct, in the same order)."""


@dataclass
class Load:
    """What a crowd of clients measured."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    wrong: int = 0
    same_order: int = 0
    memory: list[float] = field(default_factory=list)
    """MB, once per second."""

    def summary(self) -> dict[str, Any]:
        p50, p95 = np.percentile(self.latencies or [0.0], [50, 95]) * 1000
        quarter = max(len(self.memory) // 4, 1)
        early, late = np.median(self.memory[quarter : 2 * quarter] or [0]), np.median(self.memory[-quarter:] or [0])
        return {
            "requests/s": round(self.statuses[200] / self.seconds, 2),
            "p50 ms": round(float(p50), 1),
            "p95 ms": round(float(p95), 1),
            "statuses": dict(self.statuses),
            "wrong": self.wrong,
            "same order": round(self.same_order / max(self.statuses[200], 1), 4),
            "MB, second quarter": round(float(early), 1),
            "MB, last quarter": round(float(late), 1),
        }


@dataclass
class ResponseCheck:
    """Whether a response equals the ranker's own result: (correct, in the same order).

    It must have the expected candidates, the same number of them at each exit, and their scores at the first exit.
    Exact products give the same scores. int8 products depend on the batch; there the scores must correlate with the
    expected ones more strongly than those of any other question would.
    """

    expected: Any
    exact: bool

    def __call__(self, response: Any) -> tuple[bool, bool]:
        items, expected = response["items"], {item.index: item for item in self.expected}
        order = [item["index"] for item in items]
        same = order == [item.index for item in self.expected]
        stages = [stage["candidates"] for stage in response["stages"]]
        if sorted(order) != sorted(expected) or stages != [stage.candidates for stage in self.expected.stages]:
            return False, same
        if any(item["text"] != expected[item["index"]].text for item in items) or not response["complete"]:
            return False, same
        scores = np.array([(item["scores"][0], expected[item["index"]].scores[0]) for item in items])
        close = bool(np.abs(scores[:, 0] - scores[:, 1]).max() < TOLERANCE)
        return close if self.exact else close or bool(np.corrcoef(scores.T)[0, 1] > MIN_CORRELATION), same


def accept_all(response: Any) -> tuple[bool, bool]:
    return True, True


async def crowd(
    url: str, bodies: list[dict[str, Any]], checks: list[Check], clients: int, seconds: float, pid: int
) -> Load:
    """Run the clients; each sends one request after another for this many seconds."""
    load = Load()
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=600, limits=limits) as http:
        end = time.perf_counter() + seconds
        watch = asyncio.create_task(record_memory(pid, load.memory))
        started = time.perf_counter()
        await asyncio.gather(*(client(http, url, bodies, checks, number, end, load) for number in range(clients)))
        load.seconds = time.perf_counter() - started
        watch.cancel()
    return load


async def client(
    http: httpx.AsyncClient, url: str, bodies: list[Any], checks: list[Check], number: int, end: float, load: Load
) -> None:
    while time.perf_counter() < end:
        number = (number + 7) % len(bodies)
        started = time.perf_counter()
        response = await http.post(url, json=bodies[number])
        load.statuses[response.status_code] += 1
        if response.status_code == 200:
            load.latencies.append(time.perf_counter() - started)
            correct, same = checks[number](response.json())
            load.wrong += not correct
            load.same_order += same
        else:
            await asyncio.sleep(0.2)


async def record_memory(pid: int, memory: list[float]) -> None:
    while True:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        memory.append(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
        await asyncio.sleep(1)
