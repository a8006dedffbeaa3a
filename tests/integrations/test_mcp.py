"""The MCP server, as a process of its own, spoken to by the SDK's client over stdio."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest
from mcp import Client, StdioServerParameters

from cascada import Ranker
from cascada.search import asker_of

QUESTION = "who wrote hamlet?"
TEXTS = ["It rained.", "Hamlet is a play by Shakespeare.", "The Rhine is a river.", "Faust is by Goethe."]
SECONDS = 240


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    (folder / "plays.txt").write_text("It rained. Hamlet is a play by Shakespeare.\n\nFaust is by Goethe.")
    (folder / "broken.pdf").write_bytes(b"no PDF at all")
    return folder


def parameters(*arguments):
    environment = {name: os.environ[name] for name in ("CASCADA_CACHE", "OMP_NUM_THREADS")}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "cascada.cli.main", "mcp", *map(str, arguments)],
        env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


@asynccontextmanager
async def client_of(*arguments):
    async with asyncio.timeout(SECONDS):
        async with Client(parameters(*arguments), read_timeout_seconds=SECONDS) as client:
            yield client


def call(client, tool, **arguments):
    return client.call_tool(tool, arguments)


def test_both_tools_answer_as_python_does(documents):
    async def talk():
        async with client_of(documents) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            ranked = await call(client, "rank", question=QUESTION, candidates=TEXTS, top=3)
            asked = await call(client, "ask", question=QUESTION, top=2)
            return names, ranked.structured_content, asked.structured_content

    names, ranked, asked = asyncio.run(talk())
    assert names == ["rank", "ask"]
    local = Ranker.load().rank(QUESTION, TEXTS, top=3)
    assert [item["index"] for item in ranked["items"]] == [item.index for item in local]
    assert [item["score"] for item in ranked["items"]] == pytest.approx([item.score for item in local], abs=1e-5)
    assert ranked["likely"] == local.likely
    own = asker_of([documents], report=lambda problem: None).ask(QUESTION, top=2)
    assert [(a["text"], a["start"], a["document"]) for a in asked["answers"]] == [
        (a.text, a.start, a.document) for a in own
    ]


def test_a_mistake_is_a_tool_error_of_one_sentence_and_the_server_goes_on():
    wrong = [
        ({"question": " ", "candidates": ["a"]}, "The question is empty."),
        ({"question": QUESTION, "candidates": []}, "There are no candidates to rank."),
        ({"question": QUESTION}, "candidates: Field required."),
        ({"question": QUESTION, "candidates": ["a"], "top": 0}, "top: Input should be greater than or equal to 1."),
        (
            {"question": QUESTION, "candidates": [{"x": 1}]},
            'A candidate is a mapping whose "text" is NoneType; it must be a string or have one under "text".',
        ),
        (
            {"question": QUESTION, "candidates": ["a"], "skip_if_sure": 1},
            'skip_if_sure compares the first stage\'s scores: give each candidate one as "prior".',
        ),
    ]

    async def talk():
        async with client_of("--model", "bm25") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["rank"]
            results = [await call(client, "rank", **arguments) for arguments, _ in wrong]
            last = await call(client, "rank", question="hamlet", candidates=TEXTS, colour="red")
            return results, last

    results, last = asyncio.run(talk())
    assert [(result.is_error, result.content[0].text) for result in results] == [(True, text) for _, text in wrong]
    assert not last.is_error
    assert last.structured_content["items"][0]["index"] == 1


def test_that_nothing_answers_is_said():
    async def talk():
        async with client_of() as client:
            return await call(client, "rank", question=QUESTION, candidates=["It rained."], min_score=0.9)

    result = asyncio.run(talk()).structured_content
    assert (result["items"], result["likely"]) == ([], False)


def test_nothing_but_the_protocol_is_on_standard_output(documents):
    """A file that cannot be read is reported while the server starts: on standard error."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    done = subprocess.run(
        [sys.executable, "-m", "cascada.cli.main", "mcp", str(documents)],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0
    assert "broken.pdf" in done.stderr
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert [message["id"] for message in messages] == [1]
    assert messages[0]["result"]["serverInfo"]["name"] == "cascada"


def test_a_mistake_in_the_command_is_a_sentence_on_standard_error(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "cascada.cli.main", "mcp", str(tmp_path / "missing")],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_a_missing_extra_is_named():
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "mcp":
            raise ModuleNotFoundError(f"No module named {name!r}", name="mcp")
sys.meta_path.insert(0, Absent())
sys.argv = ["cascada", "mcp"]
from cascada.cli.main import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'cascada: serving agents needs mcp: pip install "cascada[mcp]"\n'
