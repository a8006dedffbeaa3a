"""`ask` needs nothing beyond the base installation."""

import json

from test_imports import HEAVY, command, python


def test_importing_search_loads_nothing_heavy():
    done = python(f"import sys, cascada.search; print([name for name in {HEAVY!r} if name in sys.modules])")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_the_ask_and_index_commands_work_on_the_base_installation(tmp_path):
    (tmp_path / "plays.md").write_text("It rained. Hamlet is by Shakespeare.")
    done = command("ask", "who wrote hamlet?", tmp_path, "--index", tmp_path / "index", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["answers"][0]["text"] == "Hamlet is by Shakespeare."
