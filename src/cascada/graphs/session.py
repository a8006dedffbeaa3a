"""ONNX Runtime sessions of exported graphs, and the threads that run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnxruntime

from cascada.core.errors import CascadaError, first_line
from cascada.core.probe import can_run
from cascada.ranking.stage import Ints

TOKEN_BUDGET = 384
"""Padded tokens in one call. Calls run in parallel, one per core, each small enough for the core's cache."""


class Workers:
    """Threads that run calls of a session in parallel."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cascada") if threads > 1 else None

    def run(self, work: Callable[[Ints], None], batches: Iterator[Ints]) -> None:
        """Call `work` with every batch; after an error, batches that have not started are cancelled."""
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
                    future.exception()  # wait: it still writes into the caller's arrays


def session_of(folder: Path, name: str, precision: str) -> onnxruntime.InferenceSession:
    """The session of a graph by its name; on machines where int8 products crash, that of the safe graph."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # `Workers` has the threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    path = folder / graph_file(name, safe=precision == "int8" and not can_run("onnxruntime int8"))
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the only common base class of the runtime's errors
        raise CascadaError(f"{path} cannot be run: {first_line(error)}") from error


def stage_name(exit: int) -> str:
    """The name of an exit's graph."""
    return f"stage-{exit}"


def stage_file(exit: int, *, safe: bool = False) -> str:
    """The file of an exit's graph."""
    return graph_file(stage_name(exit), safe=safe)


def graph_file(name: str, *, safe: bool = False) -> str:
    """The file of a graph; that of the `safe` graph multiplies in float32."""
    return f"{name}{'.safe' if safe else ''}.onnx"
