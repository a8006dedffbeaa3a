"""The processor: cores, memory, instruction sets, and which libraries run on it without crashing."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write, cache_folder
from cascada.core.probe import probe

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


@cache
def survives(what: str) -> bool:
    """Whether one of `cascada.PROBES` runs here."""
    known = _remembered()
    key = _key(what)
    if key not in known:
        outcome = probe(PROBES[what]).outcome
        if outcome not in ("ok", "died"):  # out of time or of memory: that may pass
            return False
        known[key] = outcome
        _remember(known)
    return known[key] == "ok"


def memory_file() -> Path:
    """Where the answers are remembered."""
    return cache_folder() / "host.json"


def _key(what: str) -> str:
    library = what.split()[0]
    machine = json.dumps([cpu()["model"], cpu()["instructions"]])
    return f"{what}, {version(library)}, {hashlib.sha256(machine.encode()).hexdigest()[:12]}"


def _remembered() -> dict[str, str]:
    try:
        known = json.loads(memory_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _remember(known: dict[str, str]) -> None:
    """Where nothing can be written, it is tried again next time."""
    with suppress(OSError, CascadaError):
        memory_file().parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(memory_file()) as file:
            json.dump(known, file, indent=1)


def threads() -> int:
    """As many as there are cores for this process, or as the variable CASCADA_THREADS says."""

    wanted = os.environ.get("CASCADA_THREADS", "")
    if wanted and not (wanted.isdecimal() and int(wanted)):
        raise CascadaError(f"CASCADA_THREADS is {wanted!r}; it must be a whole number from 1.")
    return int(wanted or cores())
