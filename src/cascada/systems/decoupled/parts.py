"""What computes a decoupled ranker's parts: torch, or ONNX Runtime. Everything around them is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cascada.ranking.stage import Bools, Floats, Ints
from cascada.systems.decoupled.cost import DecoupledArithmetic
from cascada.text.sides import SideTokenizer

Array = NDArray[Any]  # of float32 or float16


@dataclass(frozen=True)
class Meeting:
    """What is done to the two sides' encodings where they meet; small enough to need no engine."""

    question: Floats  # (question_length, hidden): global positions and type, added to a question's tokens
    document: Floats  # (max_length, hidden): the same for a document's
    up: tuple[Floats, Floats] | None = None  # (keep, hidden), (hidden,): from what is cached to all dimensions
    cosine: tuple[float, float] = (1.0, 0.0)
    """Scale and shift of the cosine, where there is an exit at the join."""

    def widened(self, kept: Array) -> Floats:
        kept = kept.astype(np.float32, copy=False)
        if self.up is None:
            return kept
        weight, bias = self.up
        return kept @ weight + bias

    def placed_question(self, states: Floats) -> Floats:
        """(tokens, hidden)."""
        return states + self.question[: len(states)]

    def placed_document(self, kept: Array) -> Floats:
        """(tokens, kept) to (tokens, hidden)."""
        return self.widened(kept) + self.document[: len(kept)]


class DecoupledEngine(Protocol):
    """The parts of one model. All methods may be called from many threads at once."""

    @property
    def join(self) -> int: ...
    @property
    def exits(self) -> tuple[int, ...]: ...
    @property
    def first_only(self) -> bool:
        """Whether the interaction reads each side's first token only."""
        ...

    @property
    def onto_cosine(self) -> bool:
        """Whether scores above the join are added to the cosine's."""
        ...

    @property
    def fingerprint(self) -> str:
        """What documents' encodings depend on."""
        ...

    @property
    def width(self) -> int:
        """Numbers that are cached for each token."""
        ...

    @property
    def tokenizer(self) -> SideTokenizer: ...
    @property
    def meeting(self) -> Meeting: ...
    @property
    def arithmetic(self) -> DecoupledArithmetic: ...
    @property
    def budget(self) -> int:
        """Padded tokens computed at once."""
        ...

    def each(self, work: Callable[[Ints], None], batches: Iterator[Ints]) -> None:
        """Do the work for all batches, side by side if that is faster."""
        ...

    def question(self, ids: Ints, mask: Bools) -> Floats:
        """(questions, tokens) to (questions, tokens, hidden)."""
        ...

    def document(self, ids: Ints, mask: Bools) -> Floats:
        """(documents, tokens) to (documents, tokens, width)."""
        ...

    def joint(self, exit: int, states: Array, lengths: Ints, second: Ints) -> tuple[Floats, Array | None]:
        """Raw scores (pairs,) at an exit, without a cosine that they may be added to, and the states (pairs, tokens,
        hidden) after it; None at the last exit.

        `states` are those of the exit before; a document's first token stands at `second` (pairs,), right behind its
        question, and what stands behind `lengths` (pairs,) is padding.
        """
        ...


QUESTION, DOCUMENT = "question", "document"


MEETING_FILE = "meeting.npz"


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
