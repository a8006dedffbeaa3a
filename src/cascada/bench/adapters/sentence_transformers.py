"""sentence-transformers' CrossEncoder with its default settings: torch, or its ONNX or OpenVINO back-end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("sentence-transformers", "transformers", "torch", "optimum-onnx", "onnxruntime", "openvino")


def load(
    folder: Path, max_length: int, settings: dict[str, Any]
) -> Callable[[str, list[str]], tuple[list[float], dict[str, Any]]]:
    from sentence_transformers import CrossEncoder

    arguments: dict[str, Any] = {}
    if settings["backend"] == "onnx":
        arguments = {
            "backend": "onnx",
            "model_kwargs": {"file_name": f"onnx/{settings['graph']}.onnx", "export": False},
        }
    if settings["backend"] == "openvino":
        arguments = {"backend": "openvino", "model_kwargs": {"export": True}}
    model = CrossEncoder(str(folder), max_length=max_length, device="cpu", **arguments)

    def rank(question: str, candidates: list[str]) -> tuple[list[float], dict[str, Any]]:
        return model.predict([(question, text) for text in candidates], show_progress_bar=False).tolist(), {}

    return rank
