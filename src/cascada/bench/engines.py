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


def _cascada(precision: str, drop: float) -> Engine:
    name = f"cascada {precision} α={drop:g}"
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
    _peer(
        "sentence-transformers OpenVINO",
        "sentence_transformers",
        ("sentence_transformers", "optimum.intel", "openvino"),
        backend="openvino",
    ),
    _peer("FlashRank int8", "flashrank", ("flashrank",), graph="int8"),
    _peer("fastembed fp32", "fastembed", ("fastembed",), graph="fp32"),
    _peer("fastembed int8", "fastembed", ("fastembed",), graph="int8"),
    Engine("cascada torch α=0", "cascada", "trained", ("cascada", "torch"), {"drop": 0.0}),
    _cascada("fp32", 0),
    _cascada("fp32", 0.3),
    _cascada("fp32", 0.5),
    FULL_INT8,
    _cascada("int8", 0.3),
    _cascada("int8", 0.5),
)


OWN_PLAN = Engine("cascada int8, own plan", "cascada", "int8", ("cascada", "onnxruntime"), {"drop": None})
"""Drops by the plan in the ranker's folder."""


def with_plan(drop: Sequence[float]) -> Engine:
    """The int8 engine with these drop ratios, one for each exit but the last."""
    name = f"cascada int8, drop {' '.join(f'{ratio:g}' for ratio in drop)}"
    return Engine(name, "cascada", "int8", ("cascada", "onnxruntime"), {"drop": list(drop)})


def fitting(engines: Sequence[Engine], exits: int) -> list[Engine]:
    """The engines to measure for a ranker with this many exits: with only one, those that drop are left out."""
    return [engine for engine in engines if exits > 1 or engine.peer or engine.settings["drop"] == 0]


def engines_named(parts: Sequence[str] | None, engines: Sequence[Engine] = ENGINES) -> list[Engine]:
    """The engines that the parts name: one by its whole name, or all whose names contain the part; all if None."""
    names = [engine.name.lower() for engine in engines]
    wanted = [(part.lower(), part.lower() in names) for part in parts or [""]]
    return [
        engine
        for engine, name in zip(engines, names, strict=True)
        if any(name == part if whole else part in name for part, whole in wanted)
    ]
