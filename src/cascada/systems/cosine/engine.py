"""Load a pre-trained encoder as a cosine ranker."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cascada.core.errors import CascadaError, require_torch
from cascada.ranking.ranker import Ranker


def load(argument: str, texts: Iterable[str] | None = None) -> Ranker:
    """Load the encoder in the folder `argument` as a ranker. `texts` is not used."""
    require_torch()
    if not (Path(argument) / "tokenizer.json").exists():
        raise CascadaError(f"cosine:{argument} needs a folder with an encoder and its tokenizer.json.")
    from cascada.systems.cosine.stages import cosine_ranker

    return cosine_ranker(Path(argument))
