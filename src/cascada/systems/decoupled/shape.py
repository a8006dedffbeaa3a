"""The shape of a decoupled ranker: what `cascada.json` says of it. No weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from cascada.core.errors import CascadaError
from cascada.core.folder import read_exported_shape

KIND = "decoupled"
"""The kind of ranker in `cascada.json` and in recipes."""

READ_QUESTION, READ_DOCUMENT = "lstm-question", "lstm-document"
"""The names of the two graphs of an exported LSTM."""

Towers = Literal["two", "shared"]
Interaction = Literal["layers", "linear", "lstm"]
Scores = Literal["own", "added"]
Match = Literal["cosine", "late", "both"]


@dataclass(frozen=True)
class DecoupledShape:
    """The layer at which question and document are joined, and the exits from there on.

    `join` is the number of layers that each side runs separately. `exits` continue its numbering: join 6 with exits
    (7,) is DC-BERT on six layers with one interaction layer; join 6 with exits (8, 10, 12) is a decoupled cascade. An
    exit at the join itself compares the encodings of the two sides; see `match`. If it is the last one, no layer reads
    both sides. Exits below the join compare the two sides' states there, by late interaction, and exit 0, before the
    first layer, their embeddings.
    """

    join: int
    exits: tuple[int, ...]
    towers: Towers = "two"
    """`two` encoders, which start as copies, or one encoder `shared` by both sides."""
    interaction: Interaction = "layers"
    keep: int | None = None
    """The number of dimensions in which documents are cached, by a trained projection; by default all of them."""
    question_length: int = 50
    """Tokens of a question. A document's global positions start here, whatever the question."""
    max_length: int = 256
    """Tokens of a document."""
    dropout: float = 0.1
    """Of the classifiers, in training."""
    scores: Scores = "own"
    """`own`: each exit above the join predicts a score. `added`: it predicts a correction to the score at the join,
    initialised to zero."""
    match: Match = "cosine"
    """How an exit at the join compares the two sides: by the `cosine` of their mean encodings, or by `late`
    interaction, in which every token of the question takes its best match among the document's tokens; or by the
    weighted sum of `both`. Exits below the join have `late`."""

    question_prompt: str = ""
    """The prefix of every question that the encoder was trained with: `query: ` for E5."""
    document_prompt: str = ""
    """The same for documents: `passage: ` for E5."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "exits", tuple(self.exits))
        for name, least in (("join", 1), ("question_length", 8), ("max_length", 8), ("keep", 1)):
            value = getattr(self, name)
            if not (name == "keep" and value is None) and (type(value) is not int or value < least):
                raise CascadaError(f"{name} is {value!r}; it must be a whole number from {least}.")
        if (self.exits or (0,))[-1] < self.join or any(below >= above for below, above in pairwise((-1, *self.exits))):
            raise CascadaError(
                f"exits are {self.exits}; they must be layers in rising order, the last one at the join, {self.join}, "
                "or above it."
            )
        if self.tower_exits and self.match == "cosine":
            raise CascadaError(
                f"exits are {self.exits}, of which {self.tower_exits[0]} is below the join, {self.join}: there the two "
                f"sides can be compared by late interaction only; match is {self.match}."
            )
        _check_choice("towers", self.towers, get_args(Towers))
        _check_choice("interaction", self.interaction, get_args(Interaction))
        if self.interaction != "layers" and len(self.joint_exits) != 1:
            raise CascadaError(
                f"exits are {self.exits}; with {self.interaction} interaction the last, and no other, is above the "
                f"join, {self.join}."
            )
        _check_choice("scores", self.scores, get_args(Scores))
        _check_choice("match", self.match, get_args(Match))
        if self.adds_to_cosine and not self.exit_at_join:
            raise CascadaError(f"scores are added, but exits {self.exits} have none at the join, {self.join}.")
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, (int, float)) or not 0 <= self.dropout < 1:
            raise CascadaError(f"dropout is {self.dropout!r}; it must be a number from 0 to below 1.")

    @property
    def lengths(self) -> dict[str, Any]:
        """What the tokenizer of both sides has to know."""
        prompts = self.question_prompt, self.document_prompt
        return {"question_length": self.question_length, "max_length": self.max_length, "prompts": prompts}

    @property
    def layer_exits(self) -> tuple[int, ...]:
        """The exits that follow a layer: all but exit 0."""
        return tuple(exit for exit in self.exits if exit)

    @property
    def tower_exits(self) -> tuple[int, ...]:
        """The exits below the join that follow a layer of the towers."""
        return tuple(exit for exit in self.layer_exits if exit < self.join)

    @property
    def tower_parts(self) -> tuple[tuple[int, int], ...]:
        """The parts in which the towers run: the layers before and after each, up to the join."""
        return tuple(pairwise((0, *self.tower_exits, self.join)))

    @property
    def exit_zero(self) -> bool:
        """Whether candidates may be dropped by late interaction of the embeddings, before the first layer."""
        return 0 in self.exits

    @property
    def joint_exits(self) -> tuple[int, ...]:
        """The exits above the join."""
        return tuple(exit for exit in self.exits if exit > self.join)

    @property
    def joint_layers(self) -> int:
        """The number of layers that read both sides: DC-BERT's K."""
        return self.exits[-1] - self.join

    @property
    def exit_at_join(self) -> bool:
        """Whether there is an exit at the join."""
        return self.join in self.exits

    @property
    def adds_to_cosine(self) -> bool:
        """Whether scores above the join are added to the score at the join."""
        return self.scores == "added"


def document_graph(first: int, last: int) -> str:
    """The name of the graph of layers `first`+1 to `last` of the document tower; the first one also has embeddings."""
    return f"document-{last}" if first else "document"


def _check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise CascadaError(f"{name} is {value!r}; there are {', '.join(known)}.")


@dataclass(frozen=True, kw_only=True)
class ExportedDecoupled(DecoupledShape):
    """The shape of an exported ranker, with all that the engine has to know before it reads a graph."""

    hidden: int
    feed_forward: int
    pad_id: int
    precision: str
    """How the matrix products are computed: int8 or fp32."""
    fingerprint: str
    """Of the document side; see `cascada.systems.decoupled.folder.fingerprint`."""
    attention_heads: int | None = None
    """Of a layer; None in exports by earlier versions, whose last layer computes keys and values of all tokens."""

    def to_dict(self) -> dict[str, Any]:
        """The content of `cascada.json`: without what only training uses, and with `scores` as `onto_cosine`."""
        values = {"kind": KIND, **dataclasses.asdict(self), "onto_cosine": self.adds_to_cosine}
        return {name: value for name, value in values.items() if name not in ("towers", "dropout", "scores")}


def read_exported(folder: Path) -> ExportedDecoupled:
    """The shape of an exported ranker, after the checksums of all of its files were verified."""
    return read_exported_shape(folder, _exported)


def _exported(*, onto_cosine: bool = False, **values: Any) -> ExportedDecoupled:
    return ExportedDecoupled(scores="added" if onto_cosine else "own", **values)
