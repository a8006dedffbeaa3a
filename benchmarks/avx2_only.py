"""Run a command on a processor that says it has AVX2 and nothing newer: no AVX-512, no VNNI, no AMX.

    python benchmarks/avx2_only.py cascada bench fast lists.jsonl --candidates 400

Libraries choose their kernels by asking the processor what it can do. Here they are told less, all of them alike:
torch with oneDNN and MKL, ONNX Runtime, OpenVINO, NumPy. The clock rate and the caches stay the machine's own, so the
ratios of one run say more than its seconds. Needs Linux on x86-64 and a C compiler. `cascada doctor` reads
/proc/cpuinfo, which still shows everything.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


def library(folder: str) -> Path:
    """Compile what hides the instructions."""
    out = Path(folder) / "avx2_only.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(out), str(SOURCE), "-ldl"], check=True)
    return out


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit("Say which command to run: python benchmarks/avx2_only.py COMMAND …")
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(sys.argv[1:], env={**os.environ, "LD_PRELOAD": str(library(folder))}).returncode


if __name__ == "__main__":
    sys.exit(main())
