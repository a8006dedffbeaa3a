"""FlashRank's Ranker on our own folder, registered under a name because FlashRank takes models by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("FlashRank", "onnxruntime", "tokenizers")


def load(
    folder: Path, max_length: int, settings: dict[str, Any]
) -> Callable[[str, list[str]], tuple[list[float], dict[str, Any]]]:
    from flashrank import Ranker, RerankRequest
    from flashrank.Config import model_file_map

    model_file_map[folder.name] = f"onnx/{settings['graph']}.onnx"
    ranker = Ranker(folder.name, cache_dir=str(folder.parent), max_length=max_length, log_level="WARNING")

    def rank(question: str, candidates: list[str]) -> tuple[list[float], dict[str, Any]]:
        passages = [{"id": place, "text": text} for place, text in enumerate(candidates)]
        scores = {passage["id"]: passage["score"] for passage in ranker.rerank(RerankRequest(question, passages))}
        return [scores[place] for place in range(len(candidates))], {}

    return rank
