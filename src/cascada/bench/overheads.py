"""What is measured besides rankings: startup times, installed sizes, the machine's peak speed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cascada.bench.engines import SENTENCE_TRANSFORMERS
from cascada.bench.measure import python_for
from cascada.bench.process import ChildFailed, once
from cascada.bench.startup import cold_cross_encoder, cold_rank, import_time
from cascada.core import processors
from cascada.core.folder import read_shape

INSTALLED = Path(__file__).parent / "installed.py"

COLD_CANDIDATES = 100
"""Candidates that a cold start ranks."""


@dataclass(frozen=True)
class Overheads:
    """Measures all of these; what cannot be measured is left out and reported to `on_progress`."""

    exported: Path
    peer: Path | None
    """The same encoder for sentence-transformers; None without peers."""
    texts: Path
    peers: str | None
    repeats: int
    on_progress: Callable[[str], None]

    def measure(self) -> dict[str, dict[str, Any]]:
        """Seconds under `start`, bytes under `installed`, operations per second under `int8_peak`."""
        own, peer = self._own_measurements(), self._peer_measurements()
        return {kind: self._run(kind, own[kind] | peer.get(kind, {})) for kind in own}

    def _own_measurements(self) -> dict[str, dict[str, Callable[[], Any]]]:
        shape = read_shape(self.exported)
        sizes = [str(number) for number in (shape["hidden"], shape["feed_forward"], processors.cores())]
        return {
            "start": {
                "import cascada": lambda: import_time(sys.executable, "cascada", repeats=self.repeats),
                "cascada rank": lambda: cold_rank(self.exported, self.texts, COLD_CANDIDATES, repeats=self.repeats),
            },
            "installed": {"cascada": lambda: once(sys.executable, str(INSTALLED), "cascada", timeout=600)},
            "int8_peak": {
                "all cores": lambda: once(sys.executable, "-m", "cascada.bench.peak", *sizes, timeout=600),
            },
        }

    def _peer_measurements(self) -> dict[str, dict[str, Callable[[], Any]]]:
        """The same for sentence-transformers, if it is installed and peers are measured."""
        python, absent = python_for(SENTENCE_TRANSFORMERS, self.peers)
        peer, module, name, repeats = self.peer, "sentence_transformers", "sentence-transformers", self.repeats
        if absent or peer is None:
            return {}
        return {
            "start": {
                f"import {module}": lambda: import_time(python, module, repeats=repeats),
                "CrossEncoder.predict": lambda: cold_cross_encoder(
                    python, peer, self.texts, COLD_CANDIDATES, repeats=repeats
                ),
            },
            "installed": {name: lambda: once(python, str(INSTALLED), name, timeout=600)},
        }

    def _run(self, kind: str, measurements: dict[str, Callable[[], Any]]) -> dict[str, Any]:
        results = {}
        for name, measure in measurements.items():
            try:
                results[name] = measure()
                self.on_progress(f"{kind}, {name}: done")
            except ChildFailed as failure:
                self.on_progress(f"{kind}, {name}: {failure}")
        return results
