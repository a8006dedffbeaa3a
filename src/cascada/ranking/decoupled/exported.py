"""An exported decoupled ranker on disk: as any exported ranker, with a graph for each side and what is added where
they meet, in `meeting.npz`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cascada.errors import CascadaError
from cascada.ranking.decoupled.engine import Meeting
from cascada.ranking.exported import check_manifest
from cascada.ranking.folder import SHAPE_FILE, read_shape

QUESTION, DOCUMENT = "question", "document"
MEETING_FILE = "meeting.npz"


@dataclass(frozen=True)
class ExportedDecoupled:
    """What the engine has to know before it reads a graph."""

    exits: tuple[int, ...]
    join: int
    interaction: str
    keep: int | None
    question_length: int
    max_length: int
    hidden: int
    feed_forward: int
    pad_id: int
    precision: str
    fingerprint: str
    onto_cosine: bool = False


def read_exported_decoupled(folder: Path) -> ExportedDecoupled:
    """What is written in the folder, once all of its files were found to be those that were written."""
    shape = read_shape(folder)
    try:
        about = ExportedDecoupled(**{name: value for name, value in shape.items() if name not in ("engine", "kind")})
    except TypeError as error:
        raise CascadaError(f"{folder / SHAPE_FILE} is damaged: {error}.") from error
    check_manifest(folder)
    return about


def save_meeting(meeting: Meeting, folder: Path) -> None:
    """Into the folder of an export."""
    weight, bias = meeting.up or (np.empty((0, 0), np.float32), np.empty(0, np.float32))
    cosine = np.array(meeting.cosine)
    np.savez(
        folder / MEETING_FILE,
        question=meeting.question,
        document=meeting.document,
        up=weight,
        up_bias=bias,
        cosine=cosine,
    )


def load_meeting(folder: Path) -> Meeting:
    """What `save_meeting` wrote."""
    with np.load(folder / MEETING_FILE) as kept:
        scale, shift = kept["cosine"].tolist()
        up = (kept["up"], kept["up_bias"]) if kept["up"].size else None
        return Meeting(kept["question"], kept["document"], up, (scale, shift))
