"""Time engines in turn, each in its own process, so that what else the machine does hits all alike."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cascada.bench.engines import Engine
from cascada.bench.process import Child, ChildFailed, missing

CHILD = Path(__file__).parent / "child.py"


PAUSE = 0.2
"""Seconds between two measurements: threads that wait for more work spin for a while."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    candidates: tuple[int, ...]
    repeats: int
    seconds: float
    """An engine that has spent so many on a number of candidates is measured three times there, not `repeats`."""
    timeout: float = 900
    pause: float = PAUSE


class Row:
    """One engine's process and what was measured of it; an engine that failed is a row that says why."""

    def __init__(self, engine: Engine, folder: Path | None, *, max_length: int, texts: Path, peers: str | None) -> None:
        self.engine = engine
        self.problem: str | None = None
        self.about: dict[str, Any] = {}
        self.cells: list[dict[str, Any]] = []
        self._child: Child | None = None
        self._folder, self._max_length, self._texts, self._peers = folder, max_length, texts, peers

    def start(self, timeout: float) -> None:
        if self._folder is None:
            self.problem = "needs the trained ranker"
            return
        python, self.problem = python_for(self.engine, self._peers)
        if self.problem:
            return
        self._child = Child(python, str(CHILD), timeout=timeout)
        job = {"adapter": self.engine.adapter, "settings": self.engine.settings, "max_length": self._max_length}
        self.about = self._ask({**job, "folder": str(self._folder), "texts": str(self._texts)}) or {}

    def rank(self, candidates: int) -> dict[str, Any] | None:
        """One measurement; None once the engine has failed."""
        return self._ask({"candidates": candidates})

    def stop(self) -> None:
        if self._child:
            self._child.close()
            self._child = None

    def to_dict(self) -> dict[str, Any]:
        return {"engine": self.engine.name, "problem": self.problem, **self.about, "cells": self.cells}

    def _ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        if self._child is None:
            return None
        try:
            return self._child.ask(question)
        except ChildFailed as failure:
            at = f" at {question['candidates']:,} candidates" if "candidates" in question else ""
            self.problem = f"{failure}{at}"
            self.stop()
            return None


def python_for(engine: Engine, peers: str | None) -> tuple[str, str | None]:
    """Who runs it: this Python, or for a peer that is not installed here the other one; and what is missing there."""
    absent = missing(sys.executable, engine.needs)
    if absent and engine.peer and peers:
        absent = missing(peers, engine.needs)
        return peers, f"not installed: {absent}" if absent else None
    return sys.executable, f"not installed: {absent}" if absent else None


def measure(
    engines: Sequence[Engine],
    folders: Mapping[str, Path],
    plan: Plan,
    *,
    texts: Path,
    max_length: int,
    peers: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """A row for each engine, in their order. `tell` gets a line for each engine and number of candidates."""
    rows = [Row(one, folders.get(one.folder), max_length=max_length, texts=texts, peers=peers) for one in engines]
    try:
        for row in rows:
            row.start(plan.timeout)
            tell(f"{row.engine.name}: {row.problem or 'loaded'}")
        for candidates in plan.candidates:
            _measure(rows, candidates, plan)
            for row in rows:
                tell(_line(row, candidates))
    finally:
        for row in rows:
            row.stop()
    return [row.to_dict() for row in rows]


def _measure(rows: Sequence[Row], candidates: int, plan: Plan) -> None:
    found: dict[str, list[dict[str, Any]]] = {row.engine.name: [] for row in rows}
    for repeat in range(-1, plan.repeats):  # the first time warms up
        for row in rows:
            done = found[row.engine.name]
            if len(done) >= 3 and sum(one["seconds"] for one in done) > plan.seconds:
                continue
            answer = row.rank(candidates)
            if answer and repeat >= 0:
                done.append(answer)
            if answer:
                time.sleep(plan.pause)
    for row in rows:
        if done := found[row.engine.name]:
            row.cells.append(_cell(candidates, done))


def _cell(candidates: int, done: Sequence[dict[str, Any]]) -> dict[str, Any]:
    seconds = [one["seconds"] for one in done]
    median = float(np.median(seconds))
    return {
        **done[-1],  # the peak so far, and what a ranking costs
        "candidates": candidates,
        "seconds": seconds,
        "median": median,
        "p95": float(np.percentile(seconds, 95)),
        "throughput": candidates / median,
    }


def _line(row: Row, candidates: int) -> str:
    if row.cells and row.cells[-1]["candidates"] == candidates:
        return f"{row.engine.name}, {candidates:,} candidates: {row.cells[-1]['median']:.3f} s"
    return f"{row.engine.name}, {candidates:,} candidates: {row.problem}"
