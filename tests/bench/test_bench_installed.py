"""The size of an installation on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path

import cascada.bench

SCRIPT = Path(cascada.bench.__file__).parent / "installed.py"


def distribution(home, name, size, *requires):
    (home / name).mkdir()
    (home / name / "code.py").write_bytes(b"#" * size)
    info = home / f"{name}-1.0.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {name}" for name in requires)]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    (info / "RECORD").write_text(f"{name}/code.py,,\n")


def test_requirements_of_requirements_count_once_and_extras_do_not(tmp_path):
    distribution(tmp_path, "outer", 1000, "inner>=1", "shared", "heavy; extra == 'all'")
    distribution(tmp_path, "inner", 200, "shared")
    distribution(tmp_path, "shared", 30, "old; python_version < '3'")
    distribution(tmp_path, "heavy", 5000)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, str(SCRIPT), "outer"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"bytes": 1230, "distributions": {"outer": 1000, "shared": 30, "inner": 200}}
