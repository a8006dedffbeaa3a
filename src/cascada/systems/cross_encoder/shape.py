"""The shape of a cross-encoder: where candidates may leave, and the model's own settings. No weights.

A model as its owner saved it has one exit, after its last layer, whose score is that of the model's own head. Exits
below it can be added: exit 0, and layers with a small head each that was trained to agree with the model.

    own = read_hub_shape(folder)                                   # exits (6,)
    shape = replace(own, exits=(0, 2, 4, 6), head=ExitHead("both", width=64))

The layers of the encoder and its own head stay as they are, whatever exits there are below.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from cascada.core.errors import CascadaError
from cascada.core.folder import CROSS_ENCODER, read_exported_shape

Activation = Literal["sigmoid", "identity", "softmax"]
"""The output function that the model was published with: the sigmoid of one logit, the logit itself, or the softmax of
two."""
Pooling = Literal["first", "mean", "both"]
"""What the head of an exit reads: the first token's state, the mean of all tokens, or both, one after the other."""


@dataclass(frozen=True)
class ExitHead:
    """The heads of the exits below the last layer: all of one kind, each with its own weights."""

    pooling: Pooling = "both"
    width: int = 0
    """Of the one hidden layer, with tanh; 0 makes the head linear."""

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            raise CascadaError(f"The pooling of an exit is {self.pooling!r}; there are {', '.join(get_args(Pooling))}.")
        if isinstance(self.width, bool) or not isinstance(self.width, int) or self.width < 0:
            raise CascadaError(f"The width of an exit's head is {self.width!r}; it must be a whole number from 0 on.")

    def pooled(self, hidden: int) -> int:
        """The number of values that a head reads."""
        return 2 * hidden if self.pooling == "both" else hidden


@dataclass(frozen=True)
class CrossEncoderShape:
    """Where candidates may be dropped, and the settings that the model was published with. With a single exit it is the
    unchanged model."""

    exits: tuple[int, ...]
    """The last one is the model's last layer."""
    max_length: int
    """Tokens of question and candidate together."""
    activation: Activation = "sigmoid"
    prompt: str = ""
    """The prefix of every question."""
    token_types: bool = True
    """Whether the tokenizer tells the encoder which tokens are the question's."""
    head: ExitHead = ExitHead()

    def __post_init__(self) -> None:
        if not self.layer_exits or any(before >= layer for before, layer in pairwise((-1, *self.exits))):
            raise CascadaError(f"exits are {self.exits}; they must be layers in rising order, such as (0, 2, 4, 6).")
        if self.activation not in get_args(Activation):
            raise CascadaError(f"activation is {self.activation!r}; there are {', '.join(get_args(Activation))}.")
        if isinstance(self.max_length, bool) or not isinstance(self.max_length, int):
            raise CascadaError(f"max_length is {self.max_length!r}; it must be a whole number.")
        if isinstance(self.head, dict):  # as cascada.json has it
            object.__setattr__(self, "head", ExitHead(**self.head))

    @property
    def layer_exits(self) -> tuple[int, ...]:
        """The exits that follow a layer: all but exit 0."""
        return tuple(exit for exit in self.exits if exit)

    @property
    def added_exits(self) -> tuple[int, ...]:
        """The exits with a head of their own: all but exit 0 and the last, which has the model's own head."""
        return self.layer_exits[:-1]

    @property
    def exit_zero(self) -> bool:
        """Whether candidates may be dropped by late interaction of the embeddings, before the first layer."""
        return 0 in self.exits

    def to_dict(self) -> dict[str, Any]:
        """The content of `cascada.json`."""
        return {"kind": CROSS_ENCODER, **dataclasses.asdict(self)}


@dataclass(frozen=True, kw_only=True)
class ExportedCrossEncoder(CrossEncoderShape):
    """The shape of an exported model, with all that the engine has to know before it reads a graph."""

    hidden: int
    feed_forward: int
    pad_id: int
    kept: Literal["float32", "float16"]
    """The type of the hidden states between stages."""
    precision: str
    """How the matrix products are computed: int8 or fp32."""


def read_exported(folder: Path) -> ExportedCrossEncoder:
    """The shape of an exported model, after the checksums of all of its files were verified."""
    return read_exported_shape(folder, ExportedCrossEncoder)
