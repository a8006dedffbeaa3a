"""Write a ranker as a cross-encoder in the hub's layout, which is what the peers load.

Somebody's own cross-encoder is written as it came, without exits. Of a cascade, embeddings and layers are the ranker's
own; the head (a pooler and one linear layer on the first token) has random weights. It reads one vector per pair, so
its time does not matter.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModelForSequenceClassification

from cascada.core.folder import CROSS_ENCODER, kind_of
from cascada.systems.cascade.folder import load
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cross_encoder import folder as cross_encoder
from cascada.systems.cross_encoder.network import CrossEncoderRanker


def write_peer(folder: Path, out: Path) -> None:
    """Write weights, configuration and tokenizer of the ranker in `folder`."""
    if kind_of(folder) == CROSS_ENCODER:
        network = cross_encoder.load(folder)
        network.model.save_pretrained(out)
        _write_tokenizer(folder, out, network)
        return
    ranker = load(folder)
    model = classifier(ranker)
    model.save_pretrained(out)
    _write_tokenizer(folder, out, ranker)


def classifier(ranker: CascadeRanker) -> Any:
    """The encoder with transformers' own classification head, of one logit."""
    torch.manual_seed(0)
    config = ranker.encoder.config
    config.num_labels = 1
    model = AutoModelForSequenceClassification.from_config(config, dtype=torch.float32)
    model.base_model.load_state_dict(ranker.encoder.encoder.state_dict(), strict=False)  # all but the pooler
    return model.eval()


def _write_tokenizer(folder: Path, out: Path, ranker: CascadeRanker | CrossEncoderRanker) -> None:
    """The peers expect the maximum length and the padding token in files next to the tokenizer."""
    tokenizer = cross_encoder.backend_tokenizer(folder)  # not every cross-encoder has a tokenizer.json
    tokenizer.save(str(out / "tokenizer.json"))
    known = folder / "tokenizer_config.json"
    settings = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    padding = tokenizer.id_to_token(ranker.pad_id)
    settings |= {"model_max_length": ranker.shape.max_length, "pad_token": padding}
    (out / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    (out / "special_tokens_map.json").write_text(json.dumps({"pad_token": padding}), encoding="utf-8")


def write_graphs(peer: Path) -> None:
    """Write `onnx/fp32.onnx` and `onnx/int8.onnx`, traced and quantised (dynamically, per tensor) as optimum does."""
    model = AutoModelForSequenceClassification.from_pretrained(peer, dtype=torch.float32).eval()
    inputs = ["input_ids", "attention_mask"]
    if getattr(model.config, "type_vocab_size", 0) > 1:
        inputs.append("token_type_ids")
    (peer / "onnx").mkdir()
    torch.onnx.export(
        model,
        kwargs={name: torch.ones(2, 8, dtype=torch.long) for name in inputs},
        f=str(peer / "onnx" / "fp32.onnx"),
        input_names=inputs,
        output_names=["logits"],
        dynamic_axes={"logits": {0: "pairs"}} | {name: {0: "pairs", 1: "tokens"} for name in inputs},
        dynamo=False,
    )
    quantize_dynamic(peer / "onnx" / "fp32.onnx", peer / "onnx" / "int8.onnx", weight_type=QuantType.QInt8)


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        write_graphs(Path(sys.argv[1]))
    print("{}")
