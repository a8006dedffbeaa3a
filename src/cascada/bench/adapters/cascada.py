"""Cascada's engines: torch for a trained folder, ONNX Runtime for an exported one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("cascada", "onnxruntime", "tokenizers", "torch")


def load(
    folder: Path, max_length: int, settings: dict[str, Any]
) -> Callable[[str, list[str]], tuple[list[float], dict[str, Any]]]:
    from cascada import Ranker
    from cascada.ranking.runs import run_scores

    ranker = Ranker.load(folder)

    def rank(question: str, candidates: list[str]) -> tuple[list[float], dict[str, Any]]:
        ranking = ranker.rank(question, candidates, drop=settings["drop"])  # None: by the plan in the folder
        scores = dict(zip((item.index for item in ranking), run_scores(ranking), strict=True))
        costs = {"flops": ranking.flops, "full_flops": ranking.full_flops, "relative_cost": ranking.relative_cost}
        return [scores[index] for index in range(len(candidates))], costs

    return rank
