"""What fills a store: the part of a ranker that reads documents without having seen the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Encoder(Protocol):
    """Turns texts into token encodings."""

    @property
    def fingerprint(self) -> str:
        """Of the weights and of everything else that changes an encoding: a store holds those of one fingerprint."""

    @property
    def width(self) -> int:
        """Numbers per token."""

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One array of (tokens, width) for each text, in order."""


class LoadedInEachProcess:
    """An encoder that travels to another process as the function that loads it, not with its weights.

    `load` can be pickled, such as `functools.partial(document_encoder, "runs/dc-bert")`.
    """

    def __init__(self, load: Callable[[], Encoder]) -> None:
        self._load = load
        self._encoder = load()

    @property
    def fingerprint(self) -> str:
        return self._encoder.fingerprint

    @property
    def width(self) -> int:
        return self._encoder.width

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return self._encoder.encode(texts)

    def __reduce__(self) -> tuple[Any, ...]:
        return LoadedInEachProcess, (self._load,)
