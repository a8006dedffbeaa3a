"""A child process that answers requests in JSON, one per line. If it dies, the reason is reported."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from typing import Any

from cascada.core.errors import CascadaError
from cascada.core.probe import last_line, signal_name

ENVIRONMENT = {
    "PYTHONSAFEPATH": "1",  # so that a file torch.py in the current folder is not imported
    "PYTHONIOENCODING": "utf-8",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "true",
    "TQDM_DISABLE": "1",
}


class ChildFailed(CascadaError):
    """The child gave no answer; the message says why, as far as known."""


class ChildKilled(ChildFailed):
    """The child died by a signal, such as SIGILL: it used an instruction that the processor does not have."""


class Child:
    """A Python process that answers one request after another."""

    def __init__(
        self, python: str, *arguments: str, timeout: float, environment: Mapping[str, str] | None = None
    ) -> None:
        """`environment` is added to this process's environment."""
        self.timeout = timeout
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the child)
        self._process = subprocess.Popen(
            [python, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **ENVIRONMENT, **(environment or {})},
            text=True,
            encoding="utf-8",
        )

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the answer; raise ChildFailed if the child dies or takes too long."""
        assert self._process.stdin
        assert self._process.stdout
        timed_out = threading.Event()

        def give_up() -> None:
            timed_out.set()
            self._process.kill()

        timer = threading.Timer(self.timeout, give_up)
        timer.start()
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            raise ChildFailed(f"no answer in {self.timeout:g} seconds") if timed_out.is_set() else self._failure()
        return json.loads(line)  # type: ignore[no-any-return]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _failure(self) -> ChildFailed:
        code = self._process.wait()
        if code < 0:
            return ChildKilled(f"died by {signal_name(-code)}")
        self._errors.seek(0)
        message = last_line(self._errors.read().decode("utf-8", "replace"))
        return ChildFailed(message or f"ended with exit code {code}")


def once(python: str, *arguments: str, timeout: float) -> dict[str, Any]:
    """Run a process for its single answer."""
    child = Child(python, *arguments, timeout=timeout)
    try:
        return child.ask({})
    finally:
        child.close()


def missing(python: str, modules: tuple[str, ...]) -> str | None:
    """The first of the modules that this Python cannot find, or None."""
    code = "import sys, importlib.util as u\nfor name in sys.argv[1:]:\n    u.find_spec(name) or sys.exit(name)\n"
    command = [python, "-c", code, *modules]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | ENVIRONMENT, check=False)
    except OSError as error:
        raise CascadaError(f"{python} cannot be run: {error.strerror}.") from error
    if not done.returncode:
        return None
    message = last_line(done.stderr)
    return message.rpartition("No module named ")[2].strip("'") if "No module named" in message else message
