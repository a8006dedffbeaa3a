"""The join: what is added to the encodings of the two sides before they are read together.

It is a look-up and at most one small matrix product, so it is computed in numpy, whatever the engine. Training uses
`GlobalEmbeddings` in `meeting.py` instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascada.core.folder import reading
from cascada.ranking.stage import Floats

Array = NDArray[Any]  # of float32 or float16

JOIN_FILE = "meeting.npz"
"""The name that exported folders have always had."""


@dataclass(frozen=True)
class JoinWeights:
    """The weights that are used where the two sides are joined."""

    question: Floats  # (question_length, hidden): global positions and type, added to a question's tokens
    document: Floats  # (max_length, hidden): the same for a document's tokens
    up: tuple[Floats, Floats] | None = None  # (keep, hidden), (hidden,): from the cached to all dimensions
    scaling: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """Scale and shift of the similarity, at each exit that compares the two sides."""
    cosine: float = 0.0
    """The weight of the cosine of means, which is added to late interaction at the join."""

    def project_up(self, cached: Array) -> Floats:
        """Cached encodings (…, keep) in all dimensions, (…, hidden)."""
        cached = cached.astype(np.float32, copy=False)
        if self.up is None:
            return cached
        weight, bias = self.up
        return cached @ weight + bias

    def place_question(self, states: Floats) -> Floats:
        """Add global positions and type to a question's encoding, (tokens, hidden)."""
        return states + self.question[: len(states)]

    def place_document(self, cached: Array) -> Floats:
        """From a document's cached encoding (tokens, keep) to its states at the join, (tokens, hidden)."""
        return self.project_up(cached) + self.document[: len(cached)]


def save_join_weights(weights: JoinWeights, folder: Path) -> None:
    """Write the weights into the folder of an export."""
    up, up_bias = weights.up or (np.empty((0, 0), np.float32), np.empty(0, np.float32))
    np.savez(
        folder / JOIN_FILE,
        question=weights.question,
        document=weights.document,
        up=up,
        up_bias=up_bias,
        scaling=np.array([(exit, *own) for exit, own in weights.scaling.items()], np.float64).reshape(-1, 3),
        cosine_weight=np.array(weights.cosine),
    )


def load_join_weights(folder: Path, join: int) -> JoinWeights:
    """Load the weights that `save_join_weights` wrote."""
    with reading(folder / JOIN_FILE), np.load(folder / JOIN_FILE, allow_pickle=False) as arrays:
        up = (arrays["up"], arrays["up_bias"]) if arrays["up"].size else None
        cosine = float(arrays["cosine_weight"]) if "cosine_weight" in arrays else 0.0
        if "scaling" in arrays:
            scaling = {int(exit): (scale, shift) for exit, scale, shift in arrays["scaling"].tolist()}
        else:  # an export by an earlier version, which could have one exit that compares
            scale, shift = arrays["cosine"].tolist()
            scaling = {join: (scale, shift)}
        return JoinWeights(arrays["question"], arrays["document"], up, scaling, cosine)
