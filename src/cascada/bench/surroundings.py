"""What is measured beside rankings: starts, installed sizes, the machine's peak."""

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


COLD = 100
"""Candidates that are ranked from a cold start."""


@dataclass(frozen=True)
class Surroundings:
    """What cannot be measured is left out, and told."""

    exported: Path
    peer: Path | None
    """The same encoder for sentence-transformers; None if peers take no part."""
    texts: Path
    peers: str | None
    repeats: int
    tell: Callable[[str], None]

    def measure(self) -> dict[str, dict[str, Any]]:
        """Seconds under `start`, bytes under `installed`, operations a second under `int8_peak`."""
        ours, theirs = self._ours(), self._theirs()
        return {kind: self._tried(kind, ours[kind] | theirs.get(kind, {})) for kind in ours}

    def _ours(self) -> dict[str, dict[str, Callable[[], Any]]]:
        shape = read_shape(self.exported)
        sizes = [str(number) for number in (shape["hidden"], shape["feed_forward"], processors.cores())]
        return {
            "start": {
                "import cascada": lambda: import_time(sys.executable, "cascada", repeats=self.repeats),
                "cascada rank": lambda: cold_rank(self.exported, self.texts, COLD, repeats=self.repeats),
            },
            "installed": {"cascada": lambda: once(sys.executable, str(INSTALLED), "cascada", timeout=600)},
            "int8_peak": {
                "all cores": lambda: once(sys.executable, "-m", "cascada.bench.peak", *sizes, timeout=600),
            },
        }

    def _theirs(self) -> dict[str, dict[str, Callable[[], Any]]]:
        """The same of sentence-transformers, where it is installed and takes part."""
        python, absent = python_for(SENTENCE_TRANSFORMERS, self.peers)
        peer, module, name, repeats = self.peer, "sentence_transformers", "sentence-transformers", self.repeats
        if absent or peer is None:
            return {}
        return {
            "start": {
                f"import {module}": lambda: import_time(python, module, repeats=repeats),
                "CrossEncoder.predict": lambda: cold_cross_encoder(python, peer, self.texts, COLD, repeats=repeats),
            },
            "installed": {name: lambda: once(python, str(INSTALLED), name, timeout=600)},
        }

    def _tried(self, kind: str, ways: dict[str, Callable[[], Any]]) -> dict[str, Any]:
        found = {}
        for name, way in ways.items():
            try:
                found[name] = way()
                self.tell(f"{kind}, {name}: done")
            except ChildFailed as failure:
                self.tell(f"{kind}, {name}: {failure}")
        return found
