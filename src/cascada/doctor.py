"""What this machine is, what is installed on it, and what really runs: the facts behind `cascada doctor`.

Whatever could crash is tried in a child process; this one never imports torch or an inference engine.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import cascada
from cascada.probe import Probe, probe

INSTRUCTIONS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16")
"""What the engines' fast paths are chosen by, as Linux spells it."""

TINY_MODEL = (
    "CAc6XAoYCgFhCgFiEgFjIg1NYXRNdWxJbnRlZ2VyEgFnWhMKAWESDgoMCAISCAoCCEAKAghAWhMKAWISDgoMCAMSCAoCCEAKAghAYhMKAWMSDgoM"
    "CAYSCAoCCEAKAghAQgQKABAN"
)
"""An ONNX model in base64: one 8-bit matrix product (MatMulInteger) of 64 × 64."""

PROBES = {
    "torch float32": """
import torch
ones = torch.ones(256, 256)
assert float((ones @ ones)[0, 0]) == 256
device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
print(f"{device}, {torch.get_num_threads()} threads")
""",
    "torch bfloat16": """
import torch
ones = torch.ones(256, 256, dtype=torch.bfloat16)
assert float((ones @ ones)[0, 0]) == 256
""",
    "onnxruntime int8": f"""
import base64, onnxruntime, numpy
session = onnxruntime.InferenceSession(base64.b64decode("{TINY_MODEL}"), providers=["CPUExecutionProvider"])
ones = numpy.ones((64, 64))
(product,) = session.run(None, {{"a": ones.astype("uint8"), "b": ones.astype("int8")}})
assert product[0, 0] == 64
""",
}
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


def cpu() -> dict[str, Any]:
    """The processor, the cores of it that may be used, and which of `INSTRUCTIONS` it has."""
    flags = (_cpuinfo("flags") or _cpuinfo("Features")).split()
    return {
        "model": _cpuinfo("model name") or platform.processor() or platform.machine(),
        "cores": cores(),
        "instructions": {name: name in flags for name in INSTRUCTIONS} if flags else {},
    }


def cores() -> int:
    """Processor cores this process may use: its affinity, and the share its container was given."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share, _, period = _cgroup("cpu.max").partition(" ")
    return max(1, min(allowed, int(share) // int(period))) if share.isdigit() and period.isdigit() else allowed


def memory() -> dict[str, float | None]:
    """Gigabytes there are for this process, and those of them that are free."""
    known = dict(re.findall(r"^(\w+):\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE))
    total, free = (int(known[key]) * 1024 if key in known else None for key in ("MemTotal", "MemAvailable"))
    limit = _cgroup("memory.max")
    if total is not None and free is not None and limit.isdigit():
        used = _cgroup("memory.current")
        total = min(total, int(limit))
        free = min(free, max(0, int(limit) - int(used)) if used.isdigit() else total)
    return {name: round(size / 2**30, 1) if size else None for name, size in (("total", total), ("free", free))}


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


def version(name: str) -> str | None:
    """Of an installed package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpuinfo(key: str) -> str:
    found = re.search(rf"^{key}\s*: (.*)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1).strip() if found else ""


def _cgroup(name: str) -> str:
    return _read(f"/sys/fs/cgroup/{name}").strip()  # inside a container, its own


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
