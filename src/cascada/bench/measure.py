"""Time the engines in turn, each in its own process, so that other load on the machine affects all of them alike."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cascada.bench.engines import Engine
from cascada.bench.process import Child, ChildFailed, ChildKilled, missing

CHILD = Path(__file__).parent / "child.py"

GUARD = {"ONEDNN_MAX_CPU_ISA": "AVX2"}
"""Keeps the libraries that use oneDNN (torch, OpenVINO) to instructions that every machine of today has."""

OWN_LISTS = -1
"""In place of a number of candidates: the lists of the data set as they are."""

COSTS = ("relative_cost", "flops", "full_flops")
"""What Cascada's engines report of a ranking besides its time."""

PAUSE = 0.2
"""Seconds between two measurements, for the threads of the previous engine to stop spinning."""


@dataclass(frozen=True)
class MeasuringPlan:
    """How much is measured."""

    candidates: tuple[int, ...]
    """Numbers of candidates, or `OWN_LISTS`."""
    repeats: int
    seconds: float
    """Stop after three repeats once an engine has used this many seconds on a number of candidates: only that engine,
    or all engines if every repeat ranks another list."""
    timeout: float = 900
    pause: float = PAUSE
    lists: tuple[int, ...] = ()
    """The questions of the data set to time with, one for each repeat; without them, each ranks the same list."""


class Row:
    """One engine's process and its measurements; if the engine failed, the reason."""

    def __init__(self, engine: Engine, folder: Path | None, *, max_length: int, texts: Path, peers: str | None) -> None:
        self.engine = engine
        self.problem: str | None = None
        self.details: dict[str, Any] = {}
        self.cells: list[dict[str, Any]] = []
        self.quality: dict[str, Any] | None = None
        self._child: Child | None = None
        self._folder, self._max_length, self._texts, self._peers = folder, max_length, texts, peers

    def start(self, timeout: float) -> None:
        if self._folder is None:
            self.problem = "needs the trained ranker"
            return
        python, self.problem = python_for(self.engine, self._peers)
        if self.problem:
            return
        try:
            self.details = self._load(python, timeout)
        except ChildKilled:  # perhaps by an instruction that the processor lacks: once more without the newest ones
            self.details = self._load(python, timeout, GUARD)

    def _load(self, python: str, timeout: float, guard: Mapping[str, str] | None = None) -> dict[str, Any]:
        self._child = Child(python, str(CHILD), timeout=timeout, environment=guard)
        job = {"adapter": self.engine.adapter, "settings": self.engine.settings, "max_length": self._max_length}
        job |= {"folder": str(self._folder), "texts": str(self._texts)}
        loaded = self._ask(job, may_die=guard is None) or {}
        return loaded | ({"environment": dict(guard)} if guard and loaded else {})

    def answer(self, question: int) -> dict[str, Any] | None:
        """The scores of the candidates of a question of the data set; None once the engine has failed."""
        return self._ask({"question": question})

    def rank(self, candidates: int, question: int | None) -> dict[str, Any] | None:
        """One measurement, of the timing list or of this question of the data set; None once the engine has failed."""
        if candidates == OWN_LISTS:
            return self._ask({"question": question})
        return self._ask({"candidates": candidates} | ({} if question is None else {"question": question}))

    def stop(self) -> None:
        if self._child:
            self._child.close()
            self._child = None

    def to_dict(self) -> dict[str, Any]:
        content = {"engine": self.engine.name, "problem": self.problem, **self.details, "cells": self.cells}
        return content | ({"quality": self.quality} if self.quality else {})

    def _ask(self, question: dict[str, Any], *, may_die: bool = False) -> dict[str, Any] | None:
        if self._child is None:
            return None
        try:
            return self._child.ask(question)
        except ChildFailed as failure:
            at = f" at {question['candidates']:,} candidates" if "candidates" in question else ""
            at += f" on list {question['question'] + 1} of the data" if "question" in question else ""
            self.stop()
            if may_die and isinstance(failure, ChildKilled):
                raise
            self.problem = f"{failure}{at}"
            return None


def python_for(engine: Engine, peers: str | None) -> tuple[str, str | None]:
    """The Python to run an engine with, and the problem if a module is missing there.

    It is this Python, or `peers` for a peer that is not installed here.
    """
    absent = missing(sys.executable, engine.needs)
    if absent and engine.peer and peers:
        absent = missing(peers, engine.needs)
        return peers, f"not installed: {absent}" if absent else None
    return sys.executable, f"not installed: {absent}" if absent else None


def measure(
    engines: Sequence[Engine],
    folders: Mapping[str, Path],
    plan: MeasuringPlan,
    *,
    texts: Path,
    max_length: int,
    peers: str | None = None,
    quality: Callable[[Sequence[Row]], None] = lambda rows: None,
    on_progress: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Measure the engines; one row each, in their order.

    `quality` is called with the rows after their times were measured, before the processes end. `on_progress` is called
    with a line for each engine and number of candidates.
    """
    rows = [
        Row(engine, folders.get(engine.folder), max_length=max_length, texts=texts, peers=peers) for engine in engines
    ]
    try:
        for row in rows:
            row.start(plan.timeout)
            on_progress(f"{row.engine.name}: {row.problem or 'loaded'}")
        for candidates in plan.candidates:
            _measure(rows, candidates, plan)
            for row in rows:
                on_progress(_line(row, candidates, "mean" if plan.lists else "median"))
        quality(rows)
    finally:
        for row in rows:
            row.stop()
    return [row.to_dict() for row in rows]


def _measure(rows: Sequence[Row], candidates: int, plan: MeasuringPlan) -> None:
    measurements: dict[str, list[dict[str, Any]]] = {row.engine.name: [] for row in rows}
    for repeat in range(-1, plan.repeats):  # repeat -1 is the warm-up
        spent = [name for name, done in measurements.items() if _spent(done, plan)]
        if plan.lists and spent:  # all engines rank the same lists
            break
        for row in rows:
            done = measurements[row.engine.name]
            if row.engine.name in spent:
                continue
            answer = row.rank(candidates, plan.lists[repeat] if plan.lists else None)
            if answer and repeat >= 0:
                done.append(answer)
            if answer:
                time.sleep(plan.pause)
    most = max(map(len, measurements.values()), default=0)
    for row in rows:
        done = measurements[row.engine.name]
        if done and (not plan.lists or len(done) == most):
            row.cells.append(_cell(candidates, done))


def _spent(done: Sequence[dict[str, Any]], plan: MeasuringPlan) -> bool:
    return len(done) >= 3 and sum(measurement["seconds"] for measurement in done) > plan.seconds


def _cell(candidates: int, done: Sequence[dict[str, Any]]) -> dict[str, Any]:
    seconds = [measurement["seconds"] for measurement in done]
    costs = [key for key in COSTS if key in done[-1]]
    return {
        "candidates": candidates,
        "peak_memory": done[-1]["peak_memory"],  # the largest so far
        **{key: float(np.mean([measurement[key] for measurement in done])) for key in costs},
        "ranked": float(np.mean([len(measurement["scores"]) for measurement in done])),
        "seconds": seconds,
        "mean": float(np.mean(seconds)),
        "median": float(np.median(seconds)),
        "p95": float(np.percentile(seconds, 95)),
    }


def _line(row: Row, candidates: int, time: str) -> str:
    """The progress line of a row: the time that the tables show, or the problem."""
    name = f"{row.engine.name}, {'lists as they are' if candidates == OWN_LISTS else f'{candidates:,} candidates'}"
    if row.problem or row.cells[-1]["candidates"] != candidates:
        return f"{name}: {row.problem}"
    return f"{name}: {row.cells[-1][time]:.3f} s"
