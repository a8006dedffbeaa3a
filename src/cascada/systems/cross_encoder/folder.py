"""The folder of a cross-encoder: read one in the hub's layout, and save it with exits.

| file | content |
|---|---|
| `config.json`, `model.safetensors`, … | the model, its tokenizer and its settings, as its owner has them |
| `exits.safetensors` | the heads of the exits that were added, and exit 0 |
| `cascada.json` | the shape; a folder without it is an unchanged model, with one exit |

transformers and sentence-transformers load a saved folder as the model that it was made from.
"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel

from cascada.core.errors import CascadaError, first_line
from cascada.core.folder import CROSS_ENCODER, SHAPE_FILE, parse_shape, require_trained, saving
from cascada.encoders.encoder import StagedEncoder, load_pretrained, quiet
from cascada.encoders.files import copy_tokenizer, read_weights, write_weights
from cascada.systems.cross_encoder.hub import SETTINGS_FILES, check, read_hub_shape
from cascada.systems.cross_encoder.network import CrossEncoderRanker
from cascada.systems.cross_encoder.shape import CrossEncoderShape, ExitHead
from cascada.text.pairs import PairTokenizer

EXITS_FILE = "exits.safetensors"


def save(network: CrossEncoderRanker, folder: Path, *, tokenizer: Path, card: str) -> None:
    """Write the model and its exits into `folder`; until its last file is in place, the folder is no ranker.

    `tokenizer` is the folder that the model came from.
    """
    with saving(folder, network.shape.to_dict(), card=card) as temporary:
        with quiet():
            network.model.save_pretrained(temporary)
        write_weights(network.added, temporary, EXITS_FILE)
        copy_tokenizer(tokenizer, temporary)
        backend_tokenizer(tokenizer).save(str(temporary / "tokenizer.json"))
        for name in SETTINGS_FILES:
            if (tokenizer / name).exists():
                shutil.copy(tokenizer / name, temporary)


def load(folder: Path) -> CrossEncoderRanker:
    """Load a model in the hub's layout, or one that `save` wrote, in evaluation mode."""
    if not (folder / SHAPE_FILE).exists():
        return _load_as_it_came(folder)
    require_trained(folder, CROSS_ENCODER, "a cross-encoder")
    network = CrossEncoderRanker(load_model(folder), parse_shape(folder, CrossEncoderShape))
    read_weights(network.added, folder, name=EXITS_FILE)
    return network.eval()


def _load_as_it_came(folder: Path) -> CrossEncoderRanker:
    shape, model = read_hub_shape(folder), load_model(folder)
    shape = dataclasses.replace(
        shape,
        max_length=min(shape.max_length, StagedEncoder(model.base_model, keep_pooler=True).longest),
        token_types="token_type_ids" in _tokenizer(folder).model_input_names,
    )
    return CrossEncoderRanker(model, shape).eval()


def load_model(folder: Path) -> PreTrainedModel:
    """transformers' own model, in float32."""
    check(folder)
    model: PreTrainedModel = load_pretrained(AutoModelForSequenceClassification, folder, "cross-encoder")
    return model


def with_added_exits(
    network: CrossEncoderRanker, exits: tuple[int, ...], head: ExitHead | None = None
) -> CrossEncoderRanker:
    """The same model with other exits; those that it already has, with a head of the same kind, keep their weights."""
    shape = dataclasses.replace(network.shape, exits=exits, head=head or network.shape.head)
    changed = CrossEncoderRanker(network.model, shape)
    same_head = shape.head == network.shape.head
    weights = network.added.state_dict()
    common = changed.added.state_dict().keys() & weights
    kept = {name: weights[name] for name in common if same_head or not name.startswith("heads.")}
    changed.added.load_state_dict(kept, strict=False)
    return changed.eval()


def with_exits(folder: Path, exits: tuple[int, ...]) -> CrossEncoderRanker:
    """The model in `folder` with some of its exits, and with exit 0 or without; see `cascada.systems.cut`."""
    return with_added_exits(load(folder), exits)


def backend_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer as transformers makes it of the folder's files, which need not include tokenizer.json."""
    tokenizer: Tokenizer = _tokenizer(folder).backend_tokenizer
    return tokenizer


def _tokenizer(folder: Path) -> Any:
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # tokenizers raises bare Exception
        raise CascadaError(f"No tokenizer could be loaded from {folder}: {first_line(error)}") from error
    if not tokenizer.is_fast:
        raise CascadaError(f"{folder} has no fast tokenizer; only those can be used.")
    return tokenizer


def pair_tokenizer(folder: Path, network: CrossEncoderRanker) -> PairTokenizer:
    """The tokenizer of pairs, with the model's own settings."""
    shape = network.shape
    return PairTokenizer(
        backend_tokenizer(folder),
        max_length=shape.max_length,
        pad_id=network.pad_id,
        prompt=shape.prompt,
        token_types=shape.token_types,
    )
