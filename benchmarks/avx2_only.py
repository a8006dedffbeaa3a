"""Run a command on a processor that says it has AVX2 and nothing newer: no AVX-512, no VNNI, no AMX.

    python benchmarks/avx2_only.py cascada bench fast lists.jsonl --candidates 400

Libraries choose their kernels by the features that the processor reports. Here the newer features are hidden from all
of them: torch with oneDNN and MKL, ONNX Runtime, OpenVINO, NumPy, and Python code that reads /proc/cpuinfo. The clock
rate and the caches stay the machine's own, so the ratios of one run say more than its seconds. Needs Linux on x86-64
and a C compiler.

Where Linux can make the CPUID instruction fault, nothing else is needed. In many virtual machines it cannot: there the
command runs with a copy of ONNX Runtime whose CPUID instructions are replaced by an instruction that always faults
(needs `objdump`), and the other libraries are limited by their own environment variables.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
CPUID, ILLEGAL = b"\x0f\xa2", b"\x0f\x0b"
LIMITS = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}
"""What torch, oneDNN (OpenVINO's too), MKL, OpenBLAS and NumPy read. ONNX Runtime has no such variable."""


def compiled(folder: Path) -> Path:
    """The library that hides the instructions."""
    out = folder / "avx2_only.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(out), str(SOURCE), "-ldl"], check=True)
    return out


def cpuinfo(folder: Path) -> Path:
    """A copy of /proc/cpuinfo without the newer flags."""
    out = folder / "cpuinfo"
    out.write_text(re.sub(r" (avx512|avx_vnni|avx_ifma|avx_ne|avx10|amx)\w*", "", Path("/proc/cpuinfo").read_text()))
    return out


def can_fault(library: Path) -> bool:
    """Whether Linux can make CPUID fault on this machine."""
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    return subprocess.run(["true"], env=environment, stderr=subprocess.DEVNULL).returncode == 0


def copied_onnxruntime(folder: Path) -> None:
    """Copy the ONNX Runtime of this environment into the folder, with faulting instructions in place of CPUID."""
    spec = importlib.util.find_spec("onnxruntime")
    if spec is None or spec.origin is None:
        return
    copy = folder / "onnxruntime"
    shutil.copytree(Path(spec.origin).parent, copy)
    for binary in copy.rglob("*.so*"):
        sections = subprocess.run(["objdump", "-h", str(binary)], check=True, capture_output=True, text=True).stdout
        text = re.search(r" \.text +\w+ +(\w+) +\w+ +(\w+)", sections)
        if text is None:
            continue
        shift = int(text[2], 16) - int(text[1], 16)  # from addresses to file offsets
        listing = ["objdump", "-d", "-j", ".text", "--no-show-raw-insn", str(binary)]
        code = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
        content = bytearray(binary.read_bytes())
        for instruction in re.finditer(r"^ *([0-9a-f]+):\s+cpuid", code, re.MULTILINE):
            place = int(instruction[1], 16) + shift
            assert content[place : place + 2] == CPUID
            content[place : place + 2] = ILLEGAL
        binary.write_bytes(content)


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit("Say which command to run: python benchmarks/avx2_only.py COMMAND …")
    if missing := [tool for tool in ("cc", "objdump") if shutil.which(tool) is None]:
        sys.exit(f"{' and '.join(missing)} is missing: install a C compiler and binutils.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = compiled(folder)
        environment = {**os.environ, **LIMITS, "LD_PRELOAD": str(library)}
        environment |= {"AVX2_ONLY_CPUINFO": str(cpuinfo(folder))}
        if not can_fault(library):
            copied_onnxruntime(folder)
            environment |= {"PYTHONPATH": os.pathsep.join(filter(None, (name, os.environ.get("PYTHONPATH"))))}
            environment |= {"AVX2_ONLY_ILLEGAL": "1"}
        return subprocess.run(sys.argv[1:], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
