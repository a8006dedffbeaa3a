"""A pre-trained encoder that can be cut to its first layers and run a few layers at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig
from transformers.utils import logging

from cascada.core.errors import CascadaError, first_line
from cascada.core.folder import SHAPE_FILE, TRANSFORMER, require_trained
from cascada.encoders import attention
from cascada.encoders.families import FAMILIES
from cascada.encoders.files import read_weights

SUPPORTED = tuple(FAMILIES)
"""The `model_type` of encoders that can be loaded. MiniLM, E5 and GTE have the layout of `bert`."""

COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "mpnet")
"""Encoders that number positions from the padding id + 1."""

TOKEN_BUDGET = 1024
"""Padded tokens computed at once in torch: about what fits into a core's cache."""


class StagedEncoder(nn.Module):
    """Embeddings and the first n layers of a pre-trained encoder.

    `embed` followed by `run(0, n)` and `output` computes the encoder's own forward pass. `run(0, n)` may be cut into
    `run(0, 4)` and `run(4, n)`, and in between candidates can be scored and dropped.
    """

    def __init__(self, encoder: nn.Module, *, keep_pooler: bool = False) -> None:
        """`keep_pooler` keeps the layer that a cross-encoder's own head needs and other rankers do not use."""
        super().__init__()
        config: Any = encoder.config
        config._attn_implementation = attention.NAME  # families with an attention of their own do not look at it
        self.config: PretrainedConfig = config
        if hasattr(encoder, "pooler") and not keep_pooler:
            encoder.pooler = None  # type: ignore[assignment]  # an unused layer breaks distributed training
        self.encoder = encoder
        self.family = FAMILIES[config.model_type](encoder)

    @property
    def layers(self) -> Sequence[nn.Module]:
        """One per layer; ALBERT's are all the same module."""
        return self.family.layers

    @property
    def depth(self) -> int:
        return len(self.layers)

    @property
    def hidden_size(self) -> int:
        return int(self.config.hidden_size)

    @property
    def feed_forward_size(self) -> int:
        return self.family.feed_forward_size

    @property
    def word_embeddings(self) -> Tensor:
        """The embedding table, (vocabulary, width); the width is not the hidden size in every encoder."""
        return self.family.words

    @property
    def position_embeddings(self) -> Tensor | None:
        """The table of position embeddings from the first token's on, (positions, width), if there is one."""
        table = self.family.positions
        return None if table is None else table[self.first_position :]

    @property
    def longest(self) -> int:
        """The largest number of tokens of a text."""
        return int(self.config.max_position_embeddings) - self.first_position

    @property
    def first_position(self) -> int:
        """The row of the first token in the table of position embeddings."""
        return int(self.config.pad_token_id) + 1 if self.config.model_type in COUNT_FROM_PADDING else 0

    @property
    def pad_id(self) -> int:
        return int(self.config.pad_token_id or 0)

    def embed(self, ids: Tensor, types: Tensor) -> Tensor:
        """Token and type ids, both (pairs, tokens), to states (pairs, tokens, hidden)."""
        return self.family.embed(ids, types)

    def run(self, states: Tensor, mask: Tensor, first: int, last: int) -> Tensor:
        """Layers first+1 to last on (pairs, tokens, hidden) states; `mask` (pairs, tokens) is True on real tokens."""
        return self.family.run(states, mask, first, last)

    def output(self, states: Tensor) -> Tensor:
        """The states after a layer as a head reads them: those that `run` returns, for ModernBERT with the norm that
        follows its last layer."""
        return self.family.output(states)


def load_encoder(name: str | Path, *, layers: int | None = None) -> StagedEncoder:
    """Load an encoder from a folder in the hub's layout or by its hub name, cut to its first `layers`."""
    config = _cut_config(name, layers)
    return StagedEncoder(load_pretrained(AutoModel, name, "encoder", unused="pooler.", config=config))


def load_pretrained(auto: Any, name: str | Path, kind: str, *, unused: str | None = None, **options: Any) -> Any:
    """A model of transformers in float32, by the class `auto` that finds its type, such as `AutoModel`.

    `kind` is what is loaded, in words; weights whose names begin with `unused` may be missing. Only safetensors weights
    are read, and code in the folder is never run.
    """
    try:
        with quiet():
            model, report = auto.from_pretrained(
                str(name),
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                ignore_mismatched_sizes=True,  # `_check_weights` reports them in a sentence
                output_loading_info=True,
                **options,
            )
    except (OSError, ValueError, SafetensorError) as error:
        raise CascadaError(f"No {kind} could be loaded from {name}: {first_line(error)}") from error
    _check_weights(name, report, kind, unused)
    return model


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers while it loads a model: problems are reported as a `CascadaError`."""
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def new_encoder(folder: Path, *, layers: int | None = None) -> StagedEncoder:
    """An encoder of the shape that `folder`/config.json describes, with weights that are yet to be loaded."""
    config = _cut_config(folder, layers)
    return StagedEncoder(AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False))


def starting_encoder(name: str | Path, *, layers: int | None = None) -> StagedEncoder:
    """The encoder to start training from: as `load_encoder`, or that in the folder of a trained transformer ranker."""
    folder = Path(name)
    if not (folder / SHAPE_FILE).exists():
        return load_encoder(name, layers=layers)
    require_trained(folder, TRANSFORMER, "a transformer")
    encoder = new_encoder(folder, layers=layers)
    read_weights(encoder, folder, prefix="encoder.")
    return encoder


def encoder_depth(name: str | Path) -> int:
    """The number of layers of an encoder, read from its config."""
    return int(_config(name).num_hidden_layers)


def _check_weights(name: str | Path, report: dict[str, Any], kind: str, unused: str | None) -> None:
    """Raise an error if weights are missing or have another size: transformers would initialise them at random."""
    for weight, size, expected in sorted(report["mismatched_keys"]):
        raise CascadaError(
            f"No {kind} could be loaded from {name}: {weight} has size {tuple(size)} in its weights "
            f"and {tuple(expected)} by its config."
        )
    missing = sorted(weight for weight in report["missing_keys"] if not unused or not weight.startswith(unused))
    if missing:
        raise CascadaError(f"No {kind} could be loaded from {name}: the file of weights lacks {missing[0]}.")


def _config(name: str | Path) -> PretrainedConfig:
    try:
        config = AutoConfig.from_pretrained(str(name), trust_remote_code=False)
    except (OSError, ValueError, StrictDataclassError) as error:
        if Path(name).is_dir():
            raise CascadaError(f"{name}/config.json is missing or damaged: {first_line(error)}") from error
        raise CascadaError(
            f"{name} is neither a folder with an encoder in the hub's layout nor a hub model that can be reached: "
            f"{first_line(error)}"
        ) from error
    if config.model_type not in SUPPORTED:
        raise CascadaError(f"{name} is of type {config.model_type}; supported are {', '.join(SUPPORTED)}.")
    return config


def _cut_config(name: str | Path, layers: int | None) -> PretrainedConfig:
    """The config of an encoder's first `layers`."""
    config = _config(name)
    depth = int(config.num_hidden_layers)
    if layers is None:
        return config
    if not 1 <= layers <= depth:
        raise CascadaError(f"layers is {layers}, but the encoder has {depth}.")
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):  # ModernBERT names the kind of every layer
        config.layer_types = config.layer_types[:layers]
    return config


HEADS = ("heads.", "classifiers.", "dropout")
"""Prefixes of the names of the parts of networks that are not the encoder's."""


def set_encoder_dropout(network: nn.Module, share: float) -> None:
    """Set the dropout of all parts of a network but its heads."""
    for name, part in network.named_modules():
        if name.startswith(HEADS):
            continue
        if isinstance(part, nn.Dropout):
            part.p = share
        elif isinstance(getattr(part, "attention_dropout", None), float):  # ModernBERT's, of the attention weights
            part.attention_dropout = share


def mean_of_tokens(states: Tensor, mask: Tensor) -> Tensor:
    """Mean of (pairs, tokens, hidden) over the tokens where `mask` (pairs, tokens) is True."""
    weights = mask.to(states.dtype).unsqueeze(-1)
    return (states * weights).sum(1) / weights.sum(1)
