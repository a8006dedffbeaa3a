"""An encoder as it comes, as a ranker."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cascada.core.errors import CascadaError, require_torch
from cascada.ranking.ranker import Ranker


def load(argument: str, texts: Iterable[str] | None = None) -> Ranker:
    """The encoder in the folder `argument` as a ranker that needs no training. It has no use for `texts`."""
    require_torch()
    if not (Path(argument) / "tokenizer.json").exists():
        raise CascadaError(f"cosine:{argument} needs a folder with an encoder and its tokenizer.json.")
    from cascada.systems.cosine.stages import cosine_ranker

    return cosine_ranker(Path(argument))
