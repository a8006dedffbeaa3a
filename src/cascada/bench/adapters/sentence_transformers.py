"""sentence-transformers' CrossEncoder with its default settings: torch, or its ONNX back-end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("sentence-transformers", "transformers", "torch", "optimum-onnx", "onnxruntime")


def load(folder: Path, max_length: int, settings: dict[str, Any]) -> Callable[[str, list[str]], None]:
    from sentence_transformers import CrossEncoder

    arguments: dict[str, Any] = {}
    if settings["backend"] == "onnx":
        arguments = {
            "backend": "onnx",
            "model_kwargs": {"file_name": f"onnx/{settings['graph']}.onnx", "export": False},
        }
    model = CrossEncoder(str(folder), max_length=max_length, device="cpu", **arguments)

    def rank(question: str, candidates: list[str]) -> None:
        model.predict([(question, text) for text in candidates], show_progress_bar=False)

    return rank
