"""Cascada's engines: torch for a trained folder, ONNX Runtime for an exported one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("cascada", "onnxruntime", "tokenizers", "torch")


def load(folder: Path, max_length: int, settings: dict[str, Any]) -> Callable[[str, list[str]], dict[str, Any]]:
    from cascada import Ranker

    ranker = Ranker.load(folder)

    def rank(question: str, candidates: list[str]) -> dict[str, Any]:
        ranking = ranker.rank(question, candidates, drop=settings["drop"])
        return {"flops": ranking.flops, "full_flops": ranking.full_flops}

    return rank
