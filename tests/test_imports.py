"""Who only ranks or reads data loads nothing heavy, and needs nothing heavy to be installed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cascada

HEAVY = ["torch", "transformers", "scipy", "pandas", "matplotlib", "ir_measures", "pytrec_eval", "yaml", "ray"]
MODULES = ["cascada", "cascada.data", "cascada.metrics", "cascada.ranking", "cascada.cli.main"]

WITHOUT = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {[*HEAVY, "accelerate", "safetensors", "huggingface_hub", "datasets"]!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


def python(code, *arguments, text=None):
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)


def command(*arguments, text=None):
    """`cascada …` where nothing beyond the base installation can be imported."""
    return python(WITHOUT + "from cascada.cli.main import main; main()", *map(str, arguments), text=text)


@pytest.mark.parametrize("module", MODULES)
def test_importing_loads_nothing_heavy(module):
    done = python(f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_ranking_with_bm25_loads_nothing_heavy():
    code = "import sys; from cascada import Ranker; Ranker.load('bm25').rank('who?', ['he', 'she']); "
    done = python(code + f"print([name for name in {HEAVY!r} if name in sys.modules])")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_python_ranks_on_the_base_installation():
    code = "from cascada import Ranker; print(Ranker.load().rank('who wrote it?', ['no', 'he wrote it'])[0].index)"
    done = python(WITHOUT + code)
    assert (done.stdout.strip(), done.stderr) == ("1", "")


def test_the_rank_command_works_on_the_base_installation():
    done = command("rank", "who wrote it?", "--json", text="no\nhe wrote it\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["items"][0]["index"] == 1
    assert command("rank", "who wrote it?", text="no\nhe wrote it\n").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["train", "recipe.yaml"], 'training needs yaml: pip install "cascada[train]"'),
        (["scale", "asnq", "nq.jsonl", "out.tsv"], 'work on several machines needs ray: pip install "cascada[scale]"'),
        (["evaluate", "bm25", "data.jsonl"], 'measuring needs pytrec_eval: pip install "cascada[eval]"'),
        (["rank", "who?", "--model", "cosine:folder"], 'the torch engine needs torch: pip install "cascada[train]"'),
    ],
    ids=["train", "scale", "evaluate", "rank"],
)
def test_a_command_whose_extra_is_missing_says_which_one_to_install(arguments, sentence):
    done = command(*arguments, text="text\n")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"cascada: {sentence}\n")


def test_a_trained_ranker_says_which_extra_it_needs(tmp_path):
    (tmp_path / "cascada.json").write_text('{"format": 1, "exits": [4]}')
    done = command("rank", "who?", "--model", tmp_path, text="text\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'cascada: the torch engine needs torch: pip install "cascada[train]"\n'


def test_an_exported_ranker_needs_no_torch(cascade_folder, tmp_path):
    from cascada.systems.export import export

    export(cascade_folder, tmp_path / "out")
    texts = "bada bade\nbadi\nbado\n"
    done = command("rank", "bada?", "--model", tmp_path / "out", "--drop", 0.5, "--json", text=texts)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["items"]) == 3


def test_only_the_scale_package_knows_ray():
    """Not even late: what one machine does never waits for Ray, whatever is installed."""
    source = Path(cascada.__file__).parent
    known = re.compile(r"^\s*(import|from) ray\b", re.MULTILINE)
    found = {path.relative_to(source).parts[0] for path in source.rglob("*.py") if known.search(path.read_text())}
    assert found == {"scale"}


def test_ranking_in_a_fresh_home_writes_nothing_but_what_this_processor_can_run(tmp_path):
    """ONNX Runtime's telemetry would leave a device id and events there, also in the process that tries it."""
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    code = "from cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, "rank", "who wrote it?"]
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    done = subprocess.run(command, input="no\nhe wrote it\n", capture_output=True, text=True, env=environment | home)
    assert done.returncode == 0, done.stderr
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {".cache/cascada/host.json"}
