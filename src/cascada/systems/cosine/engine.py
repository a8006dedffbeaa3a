"""Load a pre-trained encoder as a ranker that compares question and candidate: `cosine:FOLDER`, `late:FOLDER`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cascada.core.errors import CascadaError, require_torch
from cascada.ranking.ranker import Ranker

if TYPE_CHECKING:
    from cascada.systems.cosine.stages import Similarity


def load(system: Similarity, argument: str, texts: Iterable[str] | None = None) -> Ranker:
    """Load the encoder in the folder `argument` as a ranker. `texts` is not used."""
    require_torch()
    if not (Path(argument) / "tokenizer.json").exists():
        raise CascadaError(f"{system}:{argument} needs a folder with an encoder and its tokenizer.json.")
    from cascada.systems.cosine.stages import similarity_ranker

    return similarity_ranker(Path(argument), system)
