"""The clone of the repository, which has the recipes, scripts and examples that the commands name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cascada.core.errors import CascadaError

FOLDERS = ("recipes", "benchmarks", "examples")
"""Folders of the repository that commands name. Everything else (data/, runs/) is in the working folder."""


@dataclass(frozen=True)
class Clone:
    """A clone, found from its papers file, which is in `recipes/`."""

    root: Path

    @classmethod
    def of(cls, papers: Path) -> Clone:
        return cls(papers.resolve().parent.parent)

    def path(self, word: str) -> Path | None:
        """The file of the clone that a word of a command names; None for every other word."""
        folder, slash, _ = word.partition("/")
        if not slash or folder not in FOLDERS:
            return None
        path = self.root / word
        if not path.exists():
            raise CascadaError(
                f"{path} does not exist. `cascada reproduce` works in a clone of the repository: "
                "give --papers the path of recipes/papers.yaml in one."
            )
        return path
