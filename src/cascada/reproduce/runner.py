"""Run the commands of a result, and keep what came of them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from cascada.core.errors import CascadaError
from cascada.reproduce import child
from cascada.reproduce.papers import Command, Paper, Result, Size

OF_THE_REPOSITORY = ("recipes/", "benchmarks/", "examples/")
"""How words begin that name a file of the repository, wherever the commands run."""


@dataclass(frozen=True)
class Done:
    command: str
    how: Literal["ran", "ran before", "there already"]
    """`ran before`: for another result of the same call; `there already`: what it makes is."""
    exit_code: int = 0
    seconds: float = 0.0
    output: str = ""
    last_lines: tuple[str, ...] = ()


@dataclass
class Outcome:
    """What came of one result."""

    paper: str
    title: str
    number: str
    shows: str
    page: str
    note: str
    size: str
    finished: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    commands: list[Done] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    """Below the report's folder."""
    problem: str | None = None

    @property
    def name(self) -> str:
        return f"{self.paper} {self.number.lower()}"

    @property
    def last_lines(self) -> tuple[str, ...]:
        return self.commands[-1].last_lines if self.commands else ()

    @property
    def seconds(self) -> float:
        return sum(done.seconds for done in self.commands)


class Runner:
    """Runs results in a working folder, where their data and encoders are; logs and pictures go to the output."""

    def __init__(self, repository: Path, work: Path, output: Path, *, size: Size, quick: bool) -> None:
        self.repository = repository.resolve()
        self.work = work.resolve()
        self.output = output
        self.size: Size = size
        self.quick = quick
        self.known: dict[str, Done] = {}
        for folder in (work, output / "logs", output / "pictures"):
            folder.mkdir(parents=True, exist_ok=True)

    def prepare(self, commands: Sequence[Command]) -> None:
        """Run what has to be there before anything else."""
        for command in commands:
            done = self.carry_out(command, self.output / "logs" / "world.txt")
            if done.exit_code:
                told = done.last_lines[-1] if done.last_lines else f"{done.command} ended with code {done.exit_code}"
                raise CascadaError(f"The small data could not be made: {told}")

    def run(self, paper: Paper, result: Result) -> Outcome:
        """All commands of a result, up to the first that fails."""
        outcome = Outcome(
            paper.name, paper.title, result.number, result.shows, result.page, result.note, self._size_name()
        )
        log = self.output / "logs" / f"{slug(outcome)}.txt"
        log.unlink(missing_ok=True)
        for command in result.commands.get(self.size, []):
            done = self.carry_out(command, log)
            outcome.commands.append(done)
            if done.exit_code:
                outcome.problem = f"`{done.command}` ended with code {done.exit_code}."
                break
        else:
            self._take_pictures(result, outcome)
        outcome.finished = datetime.now(UTC).isoformat(timespec="seconds")
        outcome.machine = machine()
        return outcome

    def carry_out(self, command: Command, log: Path) -> Done:
        text = command.text(quick=self.quick)
        if text in self.known:
            return replace(self.known[text], how="ran before", seconds=0.0)
        if command.makes and (self.work / command.makes).exists():
            return Done(text, "there already")
        print(f"$ {text}", file=sys.stderr, flush=True)
        ended = child.run(self.words(command), self.work, log, quick=self.quick)
        done = Done(text, "ran", ended.exit_code, ended.seconds, ended.output, ended.last_lines)
        self.known[text] = done
        return done

    def words(self, command: Command) -> list[str]:
        """What is really started: this Python, the repository's files by their full names, patterns as files."""
        program, *rest = command.words(quick=self.quick)
        start = [sys.executable, *(["-m", "cascada.cli.main"] if program == "cascada" else [])]
        return start + [one for word in rest for one in self._meant(word)]

    def _meant(self, word: str) -> list[str]:
        if word.startswith(OF_THE_REPOSITORY):
            return [str(self.repository / word)]
        if "*" in word and (found := sorted(self.work.glob(word))):
            return [str(path.relative_to(self.work)) for path in found]
        return [word]

    def _take_pictures(self, result: Result, outcome: Outcome) -> None:
        for name in result.pictures.get(self.size, []):
            made = self.work / name
            if not made.exists():
                outcome.problem = f"The picture {name} was not made."
                return
            kept = f"pictures/{slug(outcome)}-{made.name}"
            shutil.copy(made, self.output / kept)
            outcome.pictures.append(kept)

    def _size_name(self) -> str:
        return "quick" if self.quick else self.size


def slug(outcome: Outcome) -> str:
    return f"{outcome.name.replace(' ', '-')}-{outcome.size}"


def machine() -> dict[str, Any]:
    """What a figure may depend on."""
    import platform

    import cascada
    from cascada.core import processors

    cpu = processors.cpu()
    parts = {name: processors.version(name) for name in ("torch", "transformers", "onnxruntime", "numpy")}
    return {
        "processor": cpu["model"],
        "cores": cpu["cores"],
        "memory": processors.memory()["total"],
        "platform": platform.platform(),
        "versions": {"cascada": cascada.__version__, "python": platform.python_version(), **parts},
    }
