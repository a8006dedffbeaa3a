"""The facts behind `cascada doctor`: the machine, the installed packages, which of them run, and what is chosen.

Everything that could crash is tried in a child process; this process never imports torch or an inference engine.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from importlib import metadata
from typing import Any

import cascada
from cascada.core.probe import PROBES, ProbeResult, installed_version, probe
from cascada.core.processors import cpu, memory

ONEDNN_LIMITS = ("AVX512_CORE_VNNI", "AVX512_CORE", "AVX2")
"""Values of ONEDNN_MAX_CPU_ISA, which restricts oneDNN (torch's CPU library) to an instruction set; largest first."""


def examine(on_progress: Callable[[str], None] = lambda name: None) -> dict[str, Any]:
    """All facts, as JSON prints them. A probe takes seconds: `on_progress` is called with its name before it starts."""
    results: dict[str, ProbeResult] = {}
    for name, code in PROBES.items():
        on_progress(name)
        results[name] = probe(code)
    on_progress("remedies")
    installed = parts()
    return {
        "cascada": cascada.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": cpu(),
        "memory": memory(),
        "parts": installed,
        "probes": {name: {"outcome": result.outcome, "detail": result.detail} for name, result in results.items()},
        "chosen": chosen(results),
        "advice": [*missing(installed), *remedies(results)],
    }


def parts() -> dict[str, dict[str, str | None]]:
    """Extra → required package → its version, or None if it is not installed; `core` holds the packages of no extra.

    The extras for developers and for comparisons with peers are not listed.
    """
    versions: dict[str, dict[str, str | None]] = {"core": {}}
    for requirement in _requirements():
        package = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        marker = re.search(r"extra == ['\"]([\w-]+)", requirement)
        extra = marker.group(1) if marker else "core"
        if package != "cascada" and extra not in ("dev", "docs", "bench"):
            versions.setdefault(extra, {})[package] = installed_version(package)
    return versions


def missing(installed: dict[str, dict[str, str | None]]) -> list[str]:
    """For each extra with missing packages, the command that installs it."""
    return [
        f'{extra}: {", ".join(absent)} not installed: pip install "cascada[{extra}]"'.replace("[core]", "")
        for extra, versions in installed.items()
        if (absent := [package for package, version in versions.items() if version is None])
    ]


def remedies(results: dict[str, ProbeResult]) -> list[str]:
    """For each torch probe that crashed, the largest instruction set with which it works."""
    sentences = []
    for name, result in results.items():
        if result.outcome == "died" and name.startswith("torch"):
            limits = (f"ONEDNN_MAX_CPU_ISA={limit}" for limit in ONEDNN_LIMITS if _works_with(name, limit))
            remedy = next(limits, None)
            sentences.append(
                f"{name} {result} here" + (f" and works with {remedy} in the environment." if remedy else ".")
            )
    return sentences


def chosen(results: dict[str, ProbeResult]) -> dict[str, str]:
    """What the engines and the trainer will use."""
    float32, int8 = results["torch float32"], results["onnxruntime int8"]
    torch = f"torch float32 on {float32.detail}" if float32.outcome == "ok" else f"not possible: torch {float32}"
    exported = {"ok": "ONNX Runtime, int8 products", "missing": "not possible: onnxruntime is not installed"}
    return {
        "rank with an exported ranker": exported.get(int8.outcome, f"ONNX Runtime, float32 products (int8 {int8})"),
        "rank with a trained one": torch,
        "train": torch,
    }


def _works_with(name: str, limit: str) -> bool:
    return probe(PROBES[name], env={"ONEDNN_MAX_CPU_ISA": limit}).outcome == "ok"


def _requirements() -> list[str]:
    try:
        return metadata.requires("cascada") or []
    except metadata.PackageNotFoundError:
        return []
