import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cascada.cli.main import app
from cascada.core import doctor

DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
HEALTHY = {"torch float32": "print('CPU, 8 threads')", "torch bfloat16": "", "onnxruntime int8": ""}


@pytest.fixture
def machine(monkeypatch):
    """A machine on which the named probes run other code; nothing heavy is started."""

    def make(**changed):
        codes = HEALTHY | {name.replace("_", " "): code for name, code in changed.items()}
        monkeypatch.setattr(doctor, "PROBES", codes)

    make()
    return make


def run(*arguments):
    result = CliRunner().invoke(app, ["doctor", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def as_json():
    return json.loads(run("--json"))


def test_it_describes_the_machine(machine):
    found = as_json()
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["cpu"]["cores"] >= 1
    assert found["cpu"]["model"]
    assert {"total", "free"} == set(found["memory"])


def test_it_lists_the_version_of_every_part(machine):
    found = as_json()["parts"]
    assert {"core", "eval", "train"} <= set(found)
    assert "dev" not in found
    assert found["core"]["numpy"].startswith(("1.", "2."))
    assert found["train"]["torch"]


def test_it_lists_every_extra_that_users_install(machine):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(as_json()["parts"]) == {"core", *project["optional-dependencies"]} - {"dev", "docs", "bench"}


def test_people_read_the_same(machine):
    said = run()
    for part in ("processor", "memory", "numpy ", "torch bfloat16", "CPU, 8 threads", "to train"):
        assert part in said


def test_a_part_that_is_not_there_comes_with_the_command_that_installs_it(machine, monkeypatch):
    monkeypatch.setattr(doctor, "_requirements", lambda: ["numpy>=1", 'no-such-part>=2; extra == "train"'])
    assert as_json()["parts"]["train"] == {"no-such-part": None}
    assert 'train: no-such-part not installed: pip install "cascada[train]"' in run()


def test_an_illegal_instruction_in_torch_is_survived_and_reported(machine):
    machine(torch_bfloat16=DIES)
    found = as_json()
    assert found["probes"]["torch bfloat16"] == {"outcome": "died", "detail": "SIGILL"}
    assert found["advice"] == ["torch bfloat16 died by SIGILL here."]
    assert "died by SIGILL" in run()


def test_if_fewer_instructions_help_the_advice_names_the_setting(machine):
    machine(torch_bfloat16=f"import os\nif os.environ.get('ONEDNN_MAX_CPU_ISA') != 'AVX2': {DIES}")
    cure = "torch bfloat16 died by SIGILL here and works with ONEDNN_MAX_CPU_ISA=AVX2 in the environment."
    assert as_json()["advice"] == [cure]
    assert cure in run()


def test_without_torch_exported_rankers_still_rank(machine):
    machine(torch_float32="import no_torch_here")
    chosen = as_json()["chosen"]
    assert chosen["rank with an exported ranker"] == "ONNX Runtime, int8 products"
    assert "missing" in chosen["rank with a trained one"]
    assert "missing" in chosen["train"]


def test_where_int8_products_crash_float_ones_are_chosen(machine):
    machine(onnxruntime_int8=DIES)
    assert as_json()["chosen"]["rank with an exported ranker"] == "ONNX Runtime, float32 products (int8 died by SIGILL)"


def test_torch_is_never_imported_by_the_command_itself():
    script = """
import sys
from cascada.cli.main import app
from cascada.core import doctor
doctor.PROBES = dict.fromkeys(doctor.PROBES, "")
app(["doctor", "--json"], standalone_mode=False)
assert not {"torch", "onnxruntime", "transformers"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=300)
