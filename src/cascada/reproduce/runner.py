"""Run the commands of a table or figure, and keep their results."""

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
from cascada.reproduce.clone import Clone
from cascada.reproduce.papers import Command, Paper, Result, Size


@dataclass(frozen=True)
class CommandResult:
    command: str
    how: Literal["ran", "ran before", "there already"]
    """`ran before`: for another table or figure of the same call; `there already`: the file that it makes exists."""
    exit_code: int = 0
    seconds: float = 0.0
    output: str = ""
    last_lines: tuple[str, ...] = ()


@dataclass
class Reproduction:
    """What running the commands of one table or figure gave."""

    paper: str
    title: str
    number: str
    shows: str
    page: str
    note: str
    size: str
    finished: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    commands: list[CommandResult] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    """Paths relative to the report's folder."""
    problem: str | None = None

    @property
    def name(self) -> str:
        return f"{self.paper} {self.number.lower()}"

    @property
    def last_lines(self) -> tuple[str, ...]:
        return self.commands[-1].last_lines if self.commands else ()

    @property
    def seconds(self) -> float:
        return sum(command.seconds for command in self.commands)


class Runner:
    """Runs commands in a working folder with data and encoders; logs and pictures go to the output folder."""

    def __init__(self, clone: Clone, work: Path, output: Path, *, size: Size, quick: bool) -> None:
        self.clone = clone
        self.work = work.resolve()
        self.output = output
        self.size: Size = size
        self.quick = quick
        self._ran: dict[str, CommandResult] = {}
        for folder in (work, output / "logs", output / "pictures"):
            folder.mkdir(parents=True, exist_ok=True)

    def prepare(self, commands: Sequence[Command]) -> None:
        """Run the commands that make the small data of `--quick`."""
        for command in commands:
            done = self.run_command(command, self.output / "logs" / "world.txt")
            if done.exit_code:
                reason = done.last_lines[-1] if done.last_lines else f"{done.command} ended with code {done.exit_code}"
                raise CascadaError(f"The small data could not be made: {reason}")

    def run(self, paper: Paper, result: Result) -> Reproduction:
        """Run all commands of a table or figure, up to the first that fails."""
        reproduction = Reproduction(
            paper.name, paper.title, result.number, result.shows, result.page, result.note, self._size_name()
        )
        log = self.output / "logs" / f"{slug(reproduction)}.txt"
        log.unlink(missing_ok=True)
        for command in result.commands.get(self.size, []):
            done = self.run_command(command, log)
            reproduction.commands.append(done)
            if done.exit_code:
                reproduction.problem = f"`{done.command}` ended with code {done.exit_code}."
                break
        else:
            self._take_pictures(result, reproduction)
        reproduction.finished = datetime.now(UTC).isoformat(timespec="seconds")
        reproduction.machine = machine()
        return reproduction

    def run_command(self, command: Command, log: Path) -> CommandResult:
        """Run the command, unless it ran before or what it makes exists."""
        text = command.text(quick=self.quick)
        if text in self._ran:
            return replace(self._ran[text], how="ran before", seconds=0.0)
        if command.makes and (self.work / command.makes).exists():
            return CommandResult(text, "there already")
        print(f"$ {text}", file=sys.stderr, flush=True)
        process = child.run(self.words(command), self.work, log, quick=self.quick)
        result = CommandResult(text, "ran", process.exit_code, process.seconds, process.output, process.last_lines)
        self._ran[text] = result
        return result

    def words(self, command: Command) -> list[str]:
        """The words to start: this Python, the clone's files by their full paths, patterns expanded."""
        program, *rest = command.words(quick=self.quick)
        start = [sys.executable, *(["-m", "cascada.cli.main"] if program == "cascada" else [])]
        return start + [expanded for word in rest for expanded in self._expand(word)]

    def _expand(self, word: str) -> list[str]:
        if path := self.clone.path(word):
            return [str(path)]
        if "*" in word and (matches := sorted(self.work.glob(word))):
            return [str(match.relative_to(self.work)) for match in matches]
        return [word]

    def _take_pictures(self, result: Result, reproduction: Reproduction) -> None:
        for name in result.pictures.get(self.size, []):
            picture = self.work / name
            if not picture.exists():
                reproduction.problem = f"The picture {name} was not made."
                return
            kept = f"pictures/{slug(reproduction)}-{picture.name}"
            shutil.copy(picture, self.output / kept)
            reproduction.pictures.append(kept)

    def _size_name(self) -> str:
        return "quick" if self.quick else self.size


def slug(reproduction: Reproduction) -> str:
    """Its name in links and file names."""
    return f"{reproduction.name.replace(' ', '-')}-{reproduction.size}"


def machine() -> dict[str, Any]:
    """What measured numbers may depend on."""
    import platform

    import cascada
    from cascada.core import processors
    from cascada.core.probe import installed_version

    cpu = processors.cpu()
    packages = {name: installed_version(name) for name in ("torch", "transformers", "onnxruntime", "numpy")}
    return {
        "processor": cpu["model"],
        "cores": cpu["cores"],
        "memory": processors.memory()["total"],
        "platform": platform.platform(),
        "versions": {"cascada": cascada.__version__, "python": platform.python_version(), **packages},
    }
