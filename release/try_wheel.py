"""Try an installed Cascada as a new user would: what it weighs, under which licences, and three commands.

    python -m venv empty && empty/bin/pip install "dist/cascada-0.1.0-py3-none-any.whl[serve]"
    empty/bin/python release/try_wheel.py

It runs outside of the repository: nothing but what was installed can be imported. If something is wrong, it says
what, and exits with 1.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from importlib import metadata
from pathlib import Path

MOST_MEGABYTES = 240
"""The most that the core, without extras, may take on disk with all of its requirements."""
PERMISSIVE = (
    "MIT",
    "BSD",
    "Apache",
    "PSF",
    "Python Software Foundation",
    "ISC",
    "MPL-2.0",
    "Mozilla Public",
    "CC-BY-SA",
)
"""What the licence of each distribution has to name."""
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
COMMAND = Path(sys.executable).with_name("cascada")


def main() -> None:
    from cascada.bench.installed import installed

    with tempfile.TemporaryDirectory() as folder:
        sizes = installed("cascada")
        megabytes = sum(sizes.values()) / 1e6
        require(
            megabytes <= MOST_MEGABYTES, f"The core takes {megabytes:.0f} MB; at most {MOST_MEGABYTES} are allowed."
        )
        print(f"{megabytes:.0f} MB in {len(sizes)} distributions")
        for name in sizes:
            require(any(word in licence(name) for word in PERMISSIVE), f"{name} has the licence {licence(name)!r}.")
        question = "How many people ascended the Eiffel Tower in 2011?"
        ranked = json.loads(run("rank", question, EXAMPLES / "eiffel.txt", "--top", "1", "--json", cwd=folder))
        require("6.98 million" in ranked["items"][0]["text"], f"`rank` puts {ranked['items'][0]['text']!r} first.")
        asked = "Why was Polonia relegated in 2013?"
        answers = json.loads(run("ask", asked, EXAMPLES / "documents", "--top", "1", "--json", cwd=folder))["answers"]
        require("financial situation" in answers[0]["text"], f"`ask` answers {answers[0]['text']!r}.")
        serve(folder)
    print("rank, ask and serve work")


def require(fulfilled: bool, sentence: str) -> None:
    if not fulfilled:
        sys.exit(sentence)


def licence(name: str) -> str:
    """What a distribution's metadata says of its licence: an expression, a text or classifiers."""
    about = metadata.metadata(name)
    classifiers = [value for value in about.get_all("Classifier", []) if value.startswith("License")]
    return " ".join([about.get("License-Expression", ""), about.get("License", "")[:200], *classifiers]).strip()


def run(*arguments: object, cwd: str) -> str:
    done = subprocess.run([COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120)
    require(done.returncode == 0, f"cascada {arguments[0]} failed: {done.stderr}")
    return done.stdout


def serve(folder: str) -> None:
    """Start the server, rank something over HTTP, stop it."""
    command = [COMMAND, "serve", "--port", "0"]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        port = json.loads(server.stderr.readline())["port"]
        body = {"question": "who wrote hamlet?", "candidates": ["It rained.", "Shakespeare wrote Hamlet."]}
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/rank", json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as response:
            ranking = json.load(response)
        require(ranking["items"][0]["index"] == 1, "`serve` ranks the wrong candidate first.")
        server.terminate()
        require(server.wait(30) == 0, "`serve` does not end in order.")
    finally:
        server.kill()
        server.stderr.close()


if __name__ == "__main__":
    main()
