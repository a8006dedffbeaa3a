"""A cross-encoder's folder as its owner saved it, in the layout of the hub or of sentence-transformers' CrossEncoder.

Only JSON is read here: what the model is, and how its owner uses it. Whatever cannot be run is refused in a sentence,
before torch is imported.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cascada.core.errors import CascadaError, described
from cascada.core.folder import HUB_CONFIG, read_shape
from cascada.systems.cross_encoder.shape import Activation, CrossEncoderShape

FAMILIES = ("bert", "roberta", "xlm-roberta", "distilbert", "electra", "mpnet", "albert", "modernbert", "deberta-v2")
"""The `model_type` of models that can be loaded. MiniLM's is `bert`."""

SETTINGS_FILES = ("config_sentence_transformers.json", "sentence_bert_config.json", "modules.json")
"""What sentence-transformers saves beside the model."""

CLASSIFIER = "ForSequenceClassification"
ACTIVATIONS: dict[str, Activation] = {
    "torch.nn.modules.activation.Sigmoid": "sigmoid",
    "torch.nn.modules.linear.Identity": "identity",
}
NO_LIMIT = 1 << 30
"""Tokenizers without a limit have a `model_max_length` above this number."""


def read_hub_shape(folder: Path) -> CrossEncoderShape:
    """The shape of a model in the hub's layout; CascadaError if it is no cross-encoder that can be loaded."""
    config = check(folder)
    tokenizer = _settings(folder, "tokenizer_config.json")
    saved_by_sentence_transformers = (folder / "modules.json").exists()  # else it ignores its own settings
    settings = _settings(folder, "config_sentence_transformers.json") if saved_by_sentence_transformers else {}
    return CrossEncoderShape(
        exits=read_shape(folder)["exits"],
        max_length=_max_length(config, tokenizer, _settings(folder, "sentence_bert_config.json")),
        activation=_activation(folder, config, settings),
        prompt=str((settings.get("prompts") or {}).get(settings.get("default_prompt_name")) or ""),
    )


def check(folder: Path) -> dict[str, Any]:
    """The content of config.json; CascadaError if this is no cross-encoder that can be loaded."""
    config = _settings(folder, HUB_CONFIG)
    problem = _problem(config) or _problem_with_modules(folder) or _problem_with_weights(folder)
    if problem:
        raise CascadaError(f"{folder} {problem}.")
    return config


def labels(config: dict[str, Any]) -> int:
    """The number of the model's outputs; transformers' default is two."""
    named = config.get("id2label")
    return len(named) if isinstance(named, dict) else int(config.get("num_labels") or 2)


def _problem(config: dict[str, Any]) -> str | None:
    names = [str(name) for name in config.get("architectures") or ()]
    if config.get("auto_map"):
        return "wants to run code of its own (auto_map in config.json), and code in a model's folder is never run"
    if any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names):
        return f"is a causal language model ({names[0]}), not a cross-encoder: its model must be a …{CLASSIFIER}"
    if not any(name.endswith(CLASSIFIER) for name in names):
        return f"is not a cross-encoder: its architecture is {', '.join(names) or 'not named'}, not …{CLASSIFIER}"
    if config.get("model_type") not in FAMILIES:
        return f"is of type {config.get('model_type')}; the cross-encoders that can be loaded are {', '.join(FAMILIES)}"
    if labels(config) > 2:
        return f"has {labels(config)} classes; a cross-encoder that ranks has one output, or two"
    return None


def _problem_with_modules(folder: Path) -> str | None:
    """sentence-transformers can put further modules behind the model; those are not read."""
    path = folder / "modules.json"
    modules = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    if len(modules) > 1:
        kinds = ", ".join(str(module.get("type")).rpartition(".")[2] for module in modules)
        return f"is made of several modules ({kinds}); only a transformer with its own head can be loaded"
    return None


def _problem_with_weights(folder: Path) -> str | None:
    if any(folder.glob("*.safetensors")):
        return None
    pickles = sorted(path.name for pattern in ("*.bin", "*.pt", "*.pth") for path in folder.glob(pattern))
    if pickles:
        return f"has its weights as a pickle only ({pickles[0]}), which can run code: save it as safetensors"
    return "has no weights: there is no model.safetensors"


def _activation(folder: Path, config: dict[str, Any], settings: dict[str, Any]) -> Activation:
    """By sentence-transformers' rules: its own settings, then those in config.json, new and old, then the default."""
    inner = config.get("sentence_transformers") or {}
    name = settings.get("activation_fn") or inner.get("activation_fn")
    name = name or config.get("sbert_ce_default_activation_function")
    if labels(config) == 2:
        return "softmax"
    if name is None or not str(name).startswith("torch."):  # sentence-transformers does not trust other names either
        return "sigmoid"
    if name not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise CascadaError(f"{folder} has the activation function {name}; those that can be loaded are {known}.")
    return ACTIVATIONS[name]


def _max_length(config: dict[str, Any], tokenizer: dict[str, Any], transformer: dict[str, Any]) -> int:
    limits = (tokenizer.get("model_max_length"), transformer.get("max_seq_length"))
    positions = int(config.get("max_position_embeddings") or 512)
    return min([positions, *(int(limit) for limit in limits if limit and limit < NO_LIMIT)])


def _settings(folder: Path, name: str) -> dict[str, Any]:
    """The content of a JSON file; nothing if there is no such file."""
    path = folder / name
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, OSError) as error:
        raise CascadaError(f"{path} is damaged: {described(error)}.") from error
