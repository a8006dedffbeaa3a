"""Ranking needs neither the server's nor the client's libraries."""

import subprocess
import sys

WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("fastapi", "starlette", "uvicorn", "prometheus_client", "httpx"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code, *arguments], capture_output=True, text=True, timeout=300
    )


def test_ranking_and_the_command_line_need_nothing_of_the_server():
    done = python(
        "import cascada.cli.main; from cascada import Ranker; print(len(Ranker.load('bm25').rank('a', ['a'])))"
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_serving_says_which_extra_it_needs():
    done = python("from cascada.cli.main import main; main()", "serve")
    assert (done.returncode, done.stderr) == (2, 'cascada: serving needs fastapi: pip install "cascada[serve]"\n')


def test_the_client_says_which_extra_it_needs():
    done = python("from cascada.client import Client; Client('http://127.0.0.1:1')")
    assert done.stderr.strip().endswith('the client needs httpx: pip install "cascada[client]"')
