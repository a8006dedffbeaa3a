"""The rankers, one package per system, its room; `registry.py` maps each kind of ranker to its room."""

from typing import Any

from cascada.ranking.ranker import Ranker, use_loader


def _load(*args: Any, **options: Any) -> Ranker:
    from cascada.systems.load import load  # late, to keep `import cascada` fast

    return load(*args, **options)


use_loader(_load)
