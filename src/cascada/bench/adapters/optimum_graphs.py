"""Write the peers' graphs, `onnx/fp32.onnx` and `onnx/int8.onnx`, with sentence-transformers' own export (optimum).

Run as a script with two arguments, FOLDER and INSTRUCTIONS: avx2, avx512, avx512_vnni or arm64.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main(folder: Path, instructions: str) -> None:
    from sentence_transformers import CrossEncoder, export_dynamic_quantized_onnx_model

    model = CrossEncoder(str(folder), backend="onnx", device="cpu", model_kwargs={"export": True})
    model.save_pretrained(str(folder / "exported"))
    export_dynamic_quantized_onnx_model(model, instructions, str(folder / "exported"))
    (folder / "onnx").mkdir()
    (quantised,) = (folder / "exported" / "onnx").glob("model_*.onnx")
    os.replace(quantised, folder / "onnx" / "int8.onnx")
    os.replace(folder / "exported" / "onnx" / "model.onnx", folder / "onnx" / "fp32.onnx")


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    main(Path(sys.argv[1]), sys.argv[2])
    print(json.dumps({"graphs": "optimum"}), file=answers, flush=True)
