"""The checkpoints of a run that is under way, as folders."""

from __future__ import annotations

import shutil
from pathlib import Path

COMPLETE = "complete"
"""Written into a checkpoint last of all, with the number of processes: one without it was cut off half-way."""


def last_complete(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; those that were not are removed."""
    complete = []
    for checkpoint in folder.glob("checkpoint-*"):
        if (checkpoint / COMPLETE).exists():
            complete.append(checkpoint)
        else:
            shutil.rmtree(checkpoint, ignore_errors=True)
    return max(complete, key=lambda path: int(path.name.removeprefix("checkpoint-")), default=None)


def mark_complete(checkpoint: Path, *, processes: int, best: str | None) -> None:
    """Only now are the others removed, but the best one: there is a complete one at every moment."""
    (checkpoint / COMPLETE).write_text(str(processes), encoding="ascii")
    for other in checkpoint.parent.glob("checkpoint-*"):
        if other != checkpoint and str(other) != best:
            shutil.rmtree(other, ignore_errors=True)


def processes_of(checkpoint: Path) -> int:
    """How many processes trained it."""
    return int((checkpoint / COMPLETE).read_text(encoding="ascii") or 1)
