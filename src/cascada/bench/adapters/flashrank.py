"""FlashRank's Ranker on our own folder, registered under a name because FlashRank takes models by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("FlashRank", "onnxruntime", "tokenizers")


def load(folder: Path, max_length: int, settings: dict[str, Any]) -> Callable[[str, list[str]], None]:
    from flashrank import Ranker, RerankRequest
    from flashrank.Config import model_file_map

    model_file_map[folder.name] = f"onnx/{settings['graph']}.onnx"
    ranker = Ranker(folder.name, cache_dir=str(folder.parent), max_length=max_length, log_level="WARNING")

    def rank(question: str, candidates: list[str]) -> None:
        ranker.rerank(RerankRequest(question, [{"text": text} for text in candidates]))

    return rank
