"""What this machine is, what is installed on it, and what really runs: the facts behind `cascada doctor`.

Whatever could crash is tried in a child process; this one never imports torch or an inference engine.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from importlib import metadata
from typing import Any

import cascada
from cascada.core.probe import Probe, probe
from cascada.core.processors import PROBES, cpu, memory, version

SMALLER = ("AVX512_CORE_VNNI", "AVX512_CORE", "AVX2")
"""Instruction sets to which oneDNN, torch's CPU library, can be held by ONEDNN_MAX_CPU_ISA; the largest first."""


def examine(each: Callable[[str], None] = lambda name: None) -> dict[str, Any]:
    """Everything, as JSON would have it. `each` is told what is tried next: the probes take seconds."""
    tried: dict[str, Probe] = {}
    for name, code in PROBES.items():
        each(name)
        tried[name] = probe(code)
    each("remedies")
    installed = parts()
    return {
        "cascada": cascada.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": cpu(),
        "memory": memory(),
        "parts": installed,
        "probes": {name: {"outcome": found.outcome, "detail": found.detail} for name, found in tried.items()},
        "chosen": chosen(tried),
        "advice": [*missing(installed), *remedies(tried)],
    }


def parts() -> dict[str, dict[str, str | None]]:
    """Versions of what Cascada is made of: `core`, then each extra but those for developers and for comparisons with
    peers; None is not installed.
    """
    found: dict[str, dict[str, str | None]] = {"core": {}}
    for requirement in _requirements():
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([\w-]+)", requirement)
        group = extra.group(1) if extra else "core"
        if name != "cascada" and group not in ("dev", "bench"):
            found.setdefault(group, {})[name] = version(name)
    return found


def missing(installed: dict[str, dict[str, str | None]]) -> list[str]:
    """What to install for which extra."""
    return [
        f'{extra}: {", ".join(absent)} not installed: pip install "cascada[{extra}]"'.replace("[core]", "")
        for extra, versions in installed.items()
        if (absent := [name for name, version in versions.items() if version is None])
    ]


def remedies(tried: dict[str, Probe]) -> list[str]:
    """For a torch that dies of an instruction: the largest set of instructions it lives with."""
    found = []
    for name, one in tried.items():
        if one.outcome == "died" and name.startswith("torch"):
            variables = ({"ONEDNN_MAX_CPU_ISA": instructions} for instructions in SMALLER)
            cure = next((env for env in variables if probe(PROBES[name], env=env).outcome == "ok"), None)
            what = " ".join(f"{key}={value}" for key, value in cure.items()) if cure else ""
            found.append(f"{name} {one} here" + (f" and works with {what} in the environment." if cure else "."))
    return found


def chosen(tried: dict[str, Probe]) -> dict[str, str]:
    """What the engines and the trainer will use."""
    plain, int8 = tried["torch float32"], tried["onnxruntime int8"]
    torch = f"torch float32 on {plain.detail}" if plain.outcome == "ok" else f"not possible: torch {plain}"
    exported = {"ok": "ONNX Runtime, int8 products", "missing": "not possible: onnxruntime is not installed"}
    return {
        "rank with an exported ranker": exported.get(int8.outcome, f"ONNX Runtime, float32 products (int8 {int8})"),
        "rank with a trained one": torch,
        "train": torch,
    }


def _requirements() -> list[str]:
    try:
        return metadata.requires("cascada") or []
    except metadata.PackageNotFoundError:
        return []
