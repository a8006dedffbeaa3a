"""The papers file: what each table and figure shows, and the commands that reproduce it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from cascada.core.errors import CascadaError
from cascada.reproduce.yaml_file import Strict, read_yaml

Size = Literal["full", "short"]
"""`full`: as in the papers; `short`: what two cores can do in hours."""
PROGRAMS = ("cascada", "python")
ALL = "all"


class Command(Strict):
    run: str
    """`cascada …` or `python …`, as one would type it in the repository."""
    makes: str | None = None
    """A file; if it exists, the command is not run."""
    quick: str = ""
    """Words to add with `--quick`."""

    @field_validator("run")
    @classmethod
    def _check_program(cls, run: str) -> str:
        if not run.startswith(tuple(f"{program} " for program in PROGRAMS)):
            raise ValueError(f"a command begins with {' or '.join(PROGRAMS)}")
        return run

    def text(self, *, quick: bool) -> str:
        return f"{self.run} {self.quick}" if quick and self.quick else self.run

    def words(self, *, quick: bool) -> list[str]:
        return shlex.split(self.text(quick=quick))


AnyCommand = Annotated[Command, BeforeValidator(lambda value: {"run": value} if isinstance(value, str) else value)]
"""A command, or just its text."""


class Result(Strict):
    """A table or a figure."""

    number: Annotated[str, Field(pattern=r"^(Table|Figure) \d+$")]
    shows: str
    page: str
    """The page of the documentation with our own numbers."""
    note: str = ""
    """What differs from the paper; or why there is nothing to run, and what takes its place."""
    commands: dict[Size, list[AnyCommand]] = Field(default_factory=dict)
    pictures: dict[Size, list[str]] = Field(default_factory=dict)
    """Files that the commands write in the working folder."""

    @model_validator(mode="after")
    def _check_commands(self) -> Result:
        if self.commands and set(self.commands) != {"full", "short"}:
            raise ValueError("commands must be given for both sizes, full and short, or not at all")
        if not self.commands and not self.note:
            raise ValueError("without commands, a note must say why")
        return self


class Paper(Strict):
    name: str
    title: str
    also: tuple[str, ...] = ()
    """Other names for it."""
    results: list[Result]


class Papers(Strict):
    world: list[AnyCommand]
    """Commands that make the small data of `--quick`, in the working folder."""
    steps: dict[str, AnyCommand] = Field(default_factory=dict)
    """Commands that several results share through YAML aliases."""
    papers: list[Paper]

    def all(self) -> Iterator[tuple[Paper, Result]]:
        return ((paper, result) for paper in self.papers for result in paper.results)

    def named(self, names: Iterable[str]) -> list[tuple[Paper, Result]]:
        """The named results (`cascade table 3`, `tanda`, `all`), each once, in the order of the papers."""
        wanted = {id(result) for name in names for result in self._results_named(name)}
        return [(paper, result) for paper, result in self.all() if id(result) in wanted]

    def _results_named(self, name: str) -> list[Result]:
        known: dict[str, list[Result]] = {ALL: [result for _, result in self.all()]}
        for paper in self.papers:
            for title in (paper.name, *paper.also):
                known[normalised(title)] = paper.results
                known |= {normalised(f"{title} {result.number}"): [result] for result in paper.results}
        if normalised(name) in known:
            return known[normalised(name)]
        near = get_close_matches(normalised(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {', or '.join(near)}?" if near else "see `cascada reproduce --list`."
        raise CascadaError(f"There is no result called {name!r}; {hint}")


def normalised(name: str) -> str:
    """A form in which `CT, Fig. 2` and `ct figure 2` are the same."""
    words = "".join(character if character.isalnum() else " " for character in name.lower()).split()
    abbreviations = {"fig": "figure", "tab": "table"}
    return " ".join(abbreviations.get(word, word) for word in words)


def read_papers(path: Path) -> Papers:
    """Read and check the file."""
    advice = "Run this in a clone of the repository, or give --papers the path of its recipes/papers.yaml."
    return read_yaml(path, Papers, if_missing=advice)
