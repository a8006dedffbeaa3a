"""The engines that are measured, one row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Engine:
    """One row of the tables: an adapter, the prepared folder that it loads, and its settings."""

    name: str
    adapter: str
    """The file under `adapters/` that runs it."""
    folder: str
    """trained, fp32, int8 or peer."""
    needs: tuple[str, ...]
    """Modules that it imports."""
    settings: dict[str, Any] = field(default_factory=dict)
    peer: bool = False


PLAN = "plan"
"""The last word of the name of an engine that drops by the plan that is saved with the ranker."""


def _cascada(precision: str, drop: float | None) -> Engine:
    """By the saved plan, if there is no `drop`."""
    name = f"cascada {precision} {PLAN if drop is None else f'α={drop:g}'}"
    return Engine(name, "cascada", precision, ("cascada", "onnxruntime"), {"drop": drop})


def _peer(name: str, adapter: str, needs: tuple[str, ...], **settings: Any) -> Engine:
    return Engine(name, adapter, "peer", needs, settings, peer=True)


SENTENCE_TRANSFORMERS = _peer(
    "sentence-transformers torch fp32", "sentence_transformers", ("sentence_transformers",), backend="torch"
)

SENTENCE_TRANSFORMERS_INT8 = _peer(
    "sentence-transformers ONNX int8",
    "sentence_transformers",
    ("sentence_transformers", "optimum.onnxruntime"),
    backend="onnx",
    graph="int8",
)

FULL_INT8 = _cascada("int8", 0)

ENGINES = (
    SENTENCE_TRANSFORMERS,
    SENTENCE_TRANSFORMERS_INT8,
    _peer("FlashRank int8", "flashrank", ("flashrank",), graph="int8"),
    _peer("fastembed fp32", "fastembed", ("fastembed",), graph="fp32"),
    _peer("fastembed int8", "fastembed", ("fastembed",), graph="int8"),
    Engine("cascada torch α=0", "cascada", "trained", ("cascada", "torch"), {"drop": 0.0}),
    _cascada("fp32", 0),
    _cascada("fp32", 0.3),
    _cascada("fp32", 0.5),
    _cascada("fp32", None),
    FULL_INT8,
    _cascada("int8", 0.3),
    _cascada("int8", 0.5),
    _cascada("int8", None),
)


def whole(name: str) -> str | None:
    """The name of the engine that runs the same graphs without drops; None if an engine has no exits."""
    engine, drops, _ = name.partition("α=")
    if drops:
        return f"{engine}α=0"
    return f"{name.removesuffix(PLAN)}α=0" if name.endswith(f" {PLAN}") else None


def fitting(engines: Sequence[Engine], exits: int, *, plan: bool) -> list[Engine]:
    """The engines that say something of a ranker: without exits nothing is dropped, and not every ranker has a plan."""
    return [
        engine
        for engine in engines
        if engine.peer or engine.settings["drop"] == 0 or (plan if engine.settings["drop"] is None else exits > 1)
    ]


def engines_named(parts: list[str] | None) -> list[Engine]:
    """The engines whose name contains one of the parts; all engines if None."""
    return [engine for engine in ENGINES if parts is None or any(part.lower() in engine.name.lower() for part in parts)]
