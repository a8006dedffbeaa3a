"""The file of the papers' results: what each table and figure shows, and the commands that make it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from cascada.core.errors import CascadaError

Size = Literal["full", "short"]
PROGRAMS = ("cascada", "python")
EVERYTHING = "all"


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Command(Part):
    run: str
    """`cascada …` or `python …`, as one would type it in the repository."""
    makes: str | None = None
    """A file; where it is there already, the command is not run."""
    quick: str = ""
    """Words to add on the small data."""

    @field_validator("run")
    @classmethod
    def _a_program_of_ours(cls, run: str) -> str:
        if not run.startswith(tuple(f"{program} " for program in PROGRAMS)):
            raise ValueError(f"a command begins with {' or '.join(PROGRAMS)}")
        return run

    def text(self, *, quick: bool) -> str:
        return f"{self.run} {self.quick}" if quick and self.quick else self.run

    def words(self, *, quick: bool) -> list[str]:
        return shlex.split(self.text(quick=quick))


AnyCommand = Annotated[Command, BeforeValidator(lambda one: {"run": one} if isinstance(one, str) else one)]


class Result(Part):
    """A table or a figure."""

    number: Annotated[str, Field(pattern=r"^(Table|Figure) \d+$")]
    shows: str
    page: str
    """Ours, where it is told what we have of it."""
    note: str = ""
    """What is different here; or why there is nothing to run, and what stands for it."""
    commands: dict[Size, list[AnyCommand]] = Field(default_factory=dict)
    pictures: dict[Size, list[str]] = Field(default_factory=dict)
    """Files that the commands leave in the working folder."""

    @model_validator(mode="after")
    def _both_sizes_or_a_reason(self) -> Result:
        if self.commands and set(self.commands) != {"full", "short"}:
            raise ValueError("commands are given for both sizes, full and short, or not at all")
        if not self.commands and not self.note:
            raise ValueError("without commands, a note has to say why")
        return self


class Paper(Part):
    name: str
    title: str
    also: tuple[str, ...] = ()
    """Other names that are understood."""
    results: list[Result]


class Papers(Part):
    world: list[AnyCommand]
    """What makes the small data, in the working folder."""
    steps: dict[str, AnyCommand] = Field(default_factory=dict)
    """Commands that several results share, which name them by YAML's aliases."""
    papers: list[Paper]

    def all(self) -> Iterator[tuple[Paper, Result]]:
        return ((paper, result) for paper in self.papers for result in paper.results)

    def named(self, names: Iterable[str]) -> list[tuple[Paper, Result]]:
        """The results that the names mean, each once, in the order of the papers: `cascade table 3`, `tanda`, `all`."""
        meant = {id(result) for name in names for result in self._meant(name)}
        return [(paper, result) for paper, result in self.all() if id(result) in meant]

    def _meant(self, name: str) -> list[Result]:
        known: dict[str, list[Result]] = {EVERYTHING: [result for _, result in self.all()]}
        for paper in self.papers:
            for called in (paper.name, *paper.also):
                known[plain(called)] = paper.results
                known |= {plain(f"{called} {result.number}"): [result] for result in paper.results}
        if plain(name) in known:
            return known[plain(name)]
        near = get_close_matches(plain(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {', or '.join(near)}?" if near else "see `cascada reproduce --list`."
        raise CascadaError(f"There is no result called {name!r}; {hint}")


def plain(name: str) -> str:
    """`CT, Fig. 2` and `ct figure 2` are the same."""
    words = "".join(sign if sign.isalnum() else " " for sign in name.lower()).split()
    short = {"fig": "figure", "tab": "table"}
    return " ".join(short.get(word, word) for word in words)


def read_papers(path: Path) -> Papers:
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CascadaError(
            f"{path} cannot be read: {error.strerror}. It comes with the repository; --papers says where it is."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CascadaError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    try:
        return Papers.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise CascadaError(f"{path}: {key}: {first['msg'].removeprefix('Value error, ')}.") from error
