"""The commands of docs/serve.md that call a server, run as they are written."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from loopback import TIMEOUT, serving

from cascada import Ranker
from cascada.search import Asker, Index, retriever_of

PAGE = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^curl .*?(?=^```)", PAGE, re.MULTILINE | re.DOTALL)

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """BM25 with an index of one document."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "plays.txt").write_text("It rained. Shakespeare wrote Hamlet. It was late.")
    Index(folder / "index", create=True).update([folder / "plays.txt"])
    ranker = Ranker.load("bm25")
    with serving(ranker, asker=Asker(retriever_of([], index=folder / "index"), ranker)) as http:
        yield http


def test_the_page_calls_every_path():
    assert {re.search(r"8080(/[\w/]+)", command)[1] for command in COMMANDS} == {
        "/v1/rank", "/v1/prune", "/v2/rerank", "/rerank", "/v1/ask", "/metrics",
    }  # fmt: skip


@needs_curl
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: re.search(r"8080(/[\w/]+)", command)[1])
def test_a_command_runs_as_it_is_written(server, command):
    local = command.strip().replace("127.0.0.1:8080", f"127.0.0.1:{server.base_url.port}") + " --fail-with-body"
    done = subprocess.run(["bash", "-c", local], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stdout + done.stderr
    if "/metrics" in command:
        assert "cascada_ready 1.0" in done.stdout
    else:
        assert "Shakespeare wrote Hamlet." in done.stdout or json.loads(done.stdout)["results"][0]["index"] == 1
