"""The hardware that this process may use: processor, cores, threads and memory.

Affinity masks and container (cgroup) limits count: a container with two cores of a 64-core machine has two.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any

from cascada.core.errors import CascadaError

INSTRUCTION_SETS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16")
"""The instruction sets by which engines choose their fast paths, as Linux spells them."""


def cpu() -> dict[str, Any]:
    """The processor's model, its usable cores, and which of `INSTRUCTION_SETS` it has (empty if unknown)."""
    flags = (_cpuinfo("flags") or _cpuinfo("Features")).split()
    return {
        "model": _cpuinfo("model name") or platform.processor() or platform.machine(),
        "cores": cores(),
        "instructions": {name: name in flags for name in INSTRUCTION_SETS} if flags else {},
    }


def cores() -> int:
    """Number of cores this process may use, by its affinity mask and its container's quota."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _cgroup("cpu.max").partition(" ")
    return max(1, min(allowed, int(quota) // int(period))) if quota.isdigit() and period.isdigit() else allowed


def threads() -> int:
    """Number of threads an engine should use: CASCADA_THREADS if set, otherwise the usable cores."""
    setting = os.environ.get("CASCADA_THREADS", "")
    if setting and not (setting.isdecimal() and int(setting)):
        raise CascadaError(f"CASCADA_THREADS is {setting!r}; it must be a whole number from 1.")
    return int(setting or cores())


def memory() -> dict[str, float | None]:
    """Total and free memory in GiB, within the container's limit; None if unknown."""
    sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB", _text_of("/proc/meminfo"), re.MULTILINE))
    total, free = (int(sizes[key]) * 1024 if key in sizes else None for key in ("MemTotal", "MemAvailable"))
    limit = _cgroup("memory.max")
    if total is not None and free is not None and limit.isdigit():
        used = _cgroup("memory.current")
        total = min(total, int(limit))
        free = min(free, max(0, int(limit) - int(used)) if used.isdigit() else total)
    return {name: round(size / 2**30, 1) if size else None for name, size in (("total", total), ("free", free))}


def _cpuinfo(key: str) -> str:
    match = re.search(rf"^{key}\s*: (.*)$", _text_of("/proc/cpuinfo"), re.MULTILINE)
    return match.group(1).strip() if match else ""


def _cgroup(name: str) -> str:
    return _text_of(f"/sys/fs/cgroup/{name}").strip()  # inside a container, this is the container's own group


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
