"""The command line as a whole: one sentence on stderr and exit code 2 for a mistake."""

import subprocess
import sys

import pytest

import cascada


def call(*arguments):
    command = [sys.executable, "-m", "cascada.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch"], "No such command 'nosuch'"),
        (["rank"], "Missing argument"),
        (["rank", "q", "f", "--top", "0"], "--top"),
        (["data", "stats", "nosuch"], "no data set 'nosuch'"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(arguments, said):
    result = call(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.startswith("cascada: ")
    assert result.stderr.count("\n") == 1


def test_the_version_is_printed():
    assert call("--version").stdout == f"{cascada.__version__}\n"
