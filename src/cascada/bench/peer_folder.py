"""Write a ranker as a cross-encoder in the hub's layout, which is what the peers load.

Embeddings and layers are the ranker's own. So is the head, if the hub's layout has one like it: that of a
cross-encoder, and the head on the first token, in families whose classifier applies tanh. The mean head of three layers
has none; then the peers' head (a dense layer and one logit on the first token) has random weights. It reads one vector
per pair, so its time does not matter, but the peers' scores say nothing.
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModelForSequenceClassification

from cascada.core.folder import CROSS_ENCODER, PLAN_FILE, SHAPE_FILE, kind_of
from cascada.systems.cascade.folder import load
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cross_encoder import folder as cross_encoder
from cascada.systems.cross_encoder.folder import EXITS_FILE
from cascada.systems.cross_encoder.heads import PARTS
from cascada.systems.cross_encoder.network import CrossEncoderRanker


def write_peer(folder: Path, out: Path) -> bool:
    """Write weights, configuration and tokenizer of the ranker in `folder`. Returns whether the head is its own."""
    if kind_of(folder) == CROSS_ENCODER:
        shutil.copytree(folder, out, ignore=shutil.ignore_patterns(SHAPE_FILE, EXITS_FILE, PLAN_FILE))
        _write_tokenizer(folder, out, cross_encoder.load(folder))
        return True
    ranker = load(folder)
    model = classifier(ranker)
    own_head = _copy_head(ranker, model)
    model.save_pretrained(out)
    _write_tokenizer(folder, out, ranker)
    return own_head


def classifier(ranker: CascadeRanker) -> Any:
    """The encoder with transformers' own classification head, of one logit."""
    torch.manual_seed(0)
    config = ranker.encoder.config
    config.num_labels = 1
    model = AutoModelForSequenceClassification.from_config(config, dtype=torch.float32)
    model.base_model.load_state_dict(ranker.encoder.encoder.state_dict(), strict=False)  # all but the pooler
    return model.eval()


def _copy_head(ranker: CascadeRanker, model: Any) -> bool:
    """Give the model the head of the last exit: tanh of the first token, then one logit, the second minus the first."""
    dense, activation, out = PARTS.get(model.config.model_type, ("", "", ""))
    if ranker.shape.head != "first" or activation != "tanh":
        return False
    own: Any = ranker.heads[str(ranker.shape.exits[-1])].get_submodule("out")
    layer, logits = model.get_submodule(dense), model.get_submodule(out)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(len(layer.weight)))
        layer.bias.zero_()
        logits.weight.copy_(own.weight[1:] - own.weight[:1])
        logits.bias.copy_(own.bias[1:] - own.bias[:1])
    return True


def _write_tokenizer(folder: Path, out: Path, ranker: CascadeRanker | CrossEncoderRanker) -> None:
    """Write the tokenizer, and next to it the maximum length and the padding token, where the peers expect them."""
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
