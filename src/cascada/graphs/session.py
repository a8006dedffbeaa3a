"""ONNX Runtime sessions of exported graphs, and the threads that run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnxruntime

from cascada.core.errors import CascadaError, first_line
from cascada.core.processors import survives
from cascada.ranking.stage import Ints

TOKEN_BUDGET = 384
"""Padded tokens in one call. Calls run side by side, one per core, each small enough for the core's own cache."""


class Workers:
    """Threads that run calls of a session side by side."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cascada") if threads > 1 else None

    def run(self, work: Callable[[Ints], None], batches: Iterator[Ints]) -> None:
        """Do all of it; the first error stops what has not begun."""
        if self._pool is None:
            for batch in batches:
                work(batch)
            return
        futures = [self._pool.submit(work, batch) for batch in batches]
        try:
            for future in futures:
                future.result()
        finally:
            for future in futures:
                future.cancel()
            for future in futures:
                if not future.cancelled():
                    future.exception()  # until it is done with our arrays


def session_of(folder: Path, name: str, precision: str) -> onnxruntime.InferenceSession:
    """A graph by its name, ready to be run; where 8-bit products crash, its safe twin."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the workers are the threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    path = folder / graph_file(name, safe=precision == "int8" and not survives("onnxruntime int8"))
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors have no common ground but this
        raise CascadaError(f"{path} cannot be run: {first_line(error)}") from error


def stage_name(exit: int) -> str:
    """What an exit's graph is called."""
    return f"stage-{exit}"


def stage_file(exit: int, *, safe: bool = False) -> str:
    """The file of an exit's graph."""
    return graph_file(stage_name(exit), safe=safe)


def graph_file(name: str, *, safe: bool = False) -> str:
    """A graph's file; `safe` is the one that multiplies in float32."""
    return f"{name}{'.safe' if safe else ''}.onnx"
