"""The interface of the two engines: they compute the parts of a model, and the stages are the same for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from cascada.encoders.late_interaction import PieceVectors
from cascada.ranking.stage import Bools, Floats, Ints
from cascada.systems.decoupled.cost import DecoupledFlops
from cascada.systems.decoupled.join import Array, JoinWeights
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.text.sides import SideTokenizer


class DecoupledEngine(Protocol):
    """The parts of one model. All methods may be called from several threads at once."""

    @property
    def shape(self) -> DecoupledShape: ...
    @property
    def tokenizer(self) -> SideTokenizer: ...
    @property
    def join_weights(self) -> JoinWeights: ...
    @property
    def flop_counts(self) -> DecoupledFlops: ...
    @property
    def exit_zero(self) -> PieceVectors | None:
        """What exit 0 compares, if there is one."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identifies the document side: equal fingerprints mean equal document encodings."""
        ...

    @property
    def width(self) -> int:
        """Numbers that are cached for each token of a document."""
        ...

    @property
    def budget(self) -> int:
        """Padded tokens computed at once."""
        ...

    def run_batches(self, work: Callable[[Ints], None], batches: Iterator[Ints]) -> None:
        """Call `work` with every batch, in parallel if that is faster."""
        ...

    def question(self, ids: Ints, mask: Bools) -> list[Floats]:
        """(questions, tokens) to the states (questions, tokens, hidden) after each part of the tower."""
        ...

    def document(self, inputs: Ints | Floats, mask: Bools, part: int) -> Floats:
        """The states (documents, tokens, hidden) after one part of the tower; after the last one, the encodings
        (documents, tokens, width). `inputs` are ids (documents, tokens), or the states after the part before.

        `DecoupledShape.tower_parts` are the parts: the tower is run in one, unless there are exits below the join.
        """
        ...

    def read_side(self, states: Array, lengths: Ints, *, document: bool) -> Floats:
        """Read texts (texts, tokens, hidden) at the join with the LSTM; `lengths` (texts,) are their real tokens.

        Of questions, (questions, 2, hidden): the sum of the tokens, and what documents are compared with. Of documents,
        (documents, tokens, hidden): what questions are compared with.
        """
        ...

    def joint(self, exit: int, states: Array, lengths: Ints, second: Ints) -> tuple[Floats, Array | None]:
        """Score pairs at an exit above the join.

        `states` (pairs, tokens, hidden) are those of the exit before: the question's tokens, then the document's,
        whose first token is at `second` (pairs,), then padding from `lengths` (pairs,) on. Returns the raw scores
        (pairs,), without a cosine score that they may be added to, and the states after the exit; None at the last.
        With an LSTM, `states` (pairs, 2, hidden) are the features: each side was read before, by `read_side`.
        """
        ...
