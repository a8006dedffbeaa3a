"""fastembed's TextCrossEncoder on our own folder, registered as a custom model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("fastembed", "onnxruntime", "tokenizers")


def load(
    folder: Path, max_length: int, settings: dict[str, Any]
) -> Callable[[str, list[str]], tuple[list[float], dict[str, Any]]]:
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    graph = f"onnx/{settings['graph']}.onnx"
    TextCrossEncoder.add_custom_model("cascada/bench", sources=ModelSource(url="none"), model_file=graph)
    model = TextCrossEncoder("cascada/bench", specific_model_path=str(folder))

    def rank(question: str, candidates: list[str]) -> tuple[list[float], dict[str, Any]]:
        return list(model.rerank(question, candidates)), {}

    return rank
