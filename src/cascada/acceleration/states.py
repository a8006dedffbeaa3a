"""Pooled states of the layers and the model's own scores, on disk: one pass writes them, and a killed pass resumes.

Files in the folder: `about.json` says which model and data they belong to; `scores.npy` has the model's score of every
pair, NaN where it is still missing; `layer-2.npy`, … have the states, a row per pair.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write
from cascada.data.group import Group
from cascada.ranking.inputs import batches_of
from cascada.ranking.stage import Floats, Pairs

ABOUT_FILE = "about.json"
SCORES_FILE = "scores.npy"
STORED = np.float16
"""The type of stored states: heads are not worse for it, and it halves the space."""
SPARE = 2**28
"""Bytes that stay free on the disk."""


class PooledModel(Protocol):
    """A cross-encoder that gives access to the states of its layers."""

    def pooled(self, pairs: Pairs, layers: Sequence[int]) -> tuple[Mapping[int, Floats], Floats]:
        """The pooled states after each of the layers, (pairs, width), and the model's own raw scores, (pairs,)."""
        ...


@dataclass(frozen=True)
class States:
    """The files of a finished or unfinished pass, memory-mapped."""

    layers: Mapping[int, NDArray[Any]]  # each (pairs, width)
    scores: Floats  # (pairs,): NaN where missing

    @classmethod
    def opened(cls, folder: Path, about: Mapping[str, Any], *, layers: Sequence[int], pairs: int, width: int) -> States:
        """Open the files in `folder`, or create them. `about` must be that of the pass that wrote them."""
        path = folder / ABOUT_FILE
        about = {**about, "layers": list(layers), "pairs": pairs, "width": width}
        if path.exists():
            _check(path, about)
        else:
            _create(folder, about)
        states = {layer: open_memmap(_layer_file(folder, layer), mode="r+") for layer in layers}
        return cls(states, open_memmap(folder / SCORES_FILE, mode="r+"))

    def fill(self, model: PooledModel, groups: Sequence[Group], advance: Callable[[int], None]) -> None:
        """Run the model on the pairs whose scores are missing; `advance` is called with the number of pairs done."""
        done, start = int(np.isfinite(self.scores).sum()), 0
        advance(done)
        for batch in batches_of((group.question, group.texts) for group in groups):
            count = sum(len(texts) for _, texts in batch)
            if start + count > done:
                self._write(start, *model.pooled(_pairs(batch), list(self.layers)))
                advance(start + count - max(start, done))
            start += count

    def _write(self, start: int, states: Mapping[int, Floats], scores: Floats) -> None:
        """Write the states before the scores: a pair that has a score has its states, too."""
        if not np.isfinite(scores).all():
            raise CascadaError("The model's scores are not numbers: its weights are damaged, or its training diverged.")
        end = start + len(scores)
        most = np.finfo(STORED).max
        for layer, values in states.items():
            self.layers[layer][start:end] = np.clip(values, -most, most)
        self.scores[start:end] = scores


def pairs_of(groups: Sequence[Group]) -> Pairs:
    """All candidates of some questions."""
    return _pairs([(group.question, group.texts) for group in groups])


def _pairs(batch: Sequence[tuple[str, Sequence[Any]]]) -> Pairs:
    questions = [question for question, _ in batch]
    texts = [text for _, texts in batch for text in texts]
    return Pairs(questions, texts, np.repeat(np.arange(len(batch)), [len(texts) for _, texts in batch]))


def _create(folder: Path, about: Mapping[str, Any]) -> None:
    """Make the files; `about.json` last, so that a folder that has it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs, width = about["pairs"], about["width"]
    needed = pairs * width * len(about["layers"]) * np.dtype(STORED).itemsize
    if needed + SPARE > shutil.disk_usage(folder).free:
        raise CascadaError(
            f"The states of {pairs:,} pairs take {needed / 1e9:.1f} GB, and {folder} has "
            f"{shutil.disk_usage(folder).free / 1e9:.1f} GB left: use fewer questions or exits, or another disk."
        )
    for layer in about["layers"]:
        open_memmap(_layer_file(folder, layer), mode="w+", dtype=STORED, shape=(pairs, width))
    scores = open_memmap(folder / SCORES_FILE, mode="w+", dtype=np.float32, shape=(pairs,))
    scores[:] = np.nan
    scores.flush()
    with atomic_write(folder / ABOUT_FILE) as file:
        json.dump(about, file)


def _check(path: Path, about: Mapping[str, Any]) -> None:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CascadaError(f"{path} is damaged: remove {path.parent} to start again.") from error
    for name, value in about.items():
        if written.get(name) != value:
            raise CascadaError(
                f"{path.parent} holds the states of another run (its {name} differs): remove it, or name another OUT."
            )


def _layer_file(folder: Path, layer: int) -> Path:
    return folder / f"layer-{layer}.npy"
