"""Training pairs of a compare-aggregate network: question and sentence separately, as word ids."""

from __future__ import annotations

import numpy as np

from cascada.text.vocabulary import padded_words
from cascada.training.examples import Examples


class WordExamples(Examples):
    """Pairs as word ids."""

    def inputs(self, rows: list[int]) -> dict[str, np.ndarray]:
        """`question` (pairs, words) and `text` (pairs, words)."""
        return dict(zip(("question", "text"), padded_words(self.encoded, rows), strict=True))
