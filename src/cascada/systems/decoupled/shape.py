"""What a decoupled ranker is, without its weights."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.core.folder import check_manifest, parsed

TOWERS = ("two", "shared")


SCORES = ("own", "added")


INTERACTIONS = ("layers", "linear", "lstm")


@dataclass(frozen=True)
class DecoupledShape:
    """Where question and document first meet, and where candidates may leave from there on.

    `join` is the number of layers that each side runs by itself. `exits` count on from there: join 6 and exits (7,) is
    DC-BERT on six layers with one interaction layer; join 6 and exits (8, 10, 12) is a decoupled cascade. An exit at
    the join itself compares the mean encodings of both sides by cosine.
    """

    join: int
    exits: tuple[int, ...]
    towers: str = "two"
    """`two` encoders, which start as copies, or one that is `shared`."""
    interaction: str = "layers"
    keep: int | None = None
    """Documents are cached in so many dimensions, by a trained projection; in all of them if not given."""
    question_length: int = 50
    """Tokens of a question; a document's global positions start here, whatever the question."""
    max_length: int = 256
    """Tokens of a document."""
    dropout: float = 0.1
    scores: str = "own"
    """Of exits above the join: their `own`, or `added` to the cosine's, as which they begin."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "exits", tuple(self.exits))
        for name, least in (("join", 1), ("question_length", 8), ("max_length", 8), ("keep", 1)):
            value = getattr(self, name)
            if not (name == "keep" and value is None) and (type(value) is not int or value < least):
                raise CascadaError(f"{name} is {value!r}; it must be a whole number from {least}.")
        if not self.exits or self.exits[0] < self.join or any(one >= other for one, other in pairwise(self.exits)):
            raise CascadaError(
                f"exits are {self.exits}; they must be layers in rising order from the join, {self.join}."
            )
        if self.exits == (self.join,):
            raise CascadaError("The only exit is at the join: question and document would never meet.")
        _among("towers", self.towers, TOWERS)
        _among("interaction", self.interaction, INTERACTIONS)
        if self.interaction != "layers" and len(self.joint_exits) > 1:
            raise CascadaError(
                f"exits are {self.exits}; with {self.interaction} interaction only the last is above the join."
            )
        _among("scores", self.scores, SCORES)
        if self.onto_cosine and not self.cosine:
            raise CascadaError(f"scores are added, but exits {self.exits} have none at the join, {self.join}.")
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, (int, float)) or not 0 <= self.dropout < 1:
            raise CascadaError(f"dropout is {self.dropout!r}; it must be a number from 0 to below 1.")

    @property
    def joint_exits(self) -> tuple[int, ...]:
        """Those above the join."""
        return tuple(exit for exit in self.exits if exit > self.join)

    @property
    def joint_layers(self) -> int:
        """Layers in which both sides are read: DC-BERT's K."""
        return self.exits[-1] - self.join

    @property
    def cosine(self) -> bool:
        return self.exits[0] == self.join

    @property
    def onto_cosine(self) -> bool:
        return self.scores == "added"


def _among(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise CascadaError(f"{name} is {value!r}; there are {', '.join(known)}.")


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


def read_exported(folder: Path) -> ExportedDecoupled:
    """The shape of an exported ranker, once all of its files match their checksums."""
    shape = parsed(folder, ExportedDecoupled)
    check_manifest(folder)
    return shape
