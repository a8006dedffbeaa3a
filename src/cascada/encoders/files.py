"""Weights and tokenizer files of a model's folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from cascada.core.errors import CascadaError
from cascada.core.folder import SHAPE_FILE

WEIGHTS_FILE = "model.safetensors"


TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def write_weights(model: nn.Module, folder: Path) -> None:
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / WEIGHTS_FILE)


def copy_tokenizer(tokenizer: Path, folder: Path) -> None:
    """Of its files, those that are there: which ones depends on the encoder."""
    for name in TOKENIZER_FILES:
        if (tokenizer / name).exists():
            shutil.copy(tokenizer / name, folder)


def read_weights(model: nn.Module, folder: Path) -> None:
    """Fill in the model's weights from the folder."""
    path = folder / WEIGHTS_FILE
    try:
        model.load_state_dict(load_file(path))
    except (OSError, SafetensorError) as error:
        raise CascadaError(f"{path} cannot be read ({error}): the checkpoint is incomplete or damaged.") from error
    except RuntimeError as error:
        raise CascadaError(f"{path} does not hold the weights that {SHAPE_FILE} describes.") from error


def tokenizer_folder(encoder: str) -> Path:
    """Where an encoder's tokenizer files are: its folder, or the hub's copy of it on this machine."""
    folder = Path(encoder)
    if not folder.is_dir():
        try:
            folder = Path(snapshot_download(encoder, allow_patterns=list(TOKENIZER_FILES)))
        except (OSError, HfHubHTTPError, HFValidationError) as error:
            raise CascadaError(f"The tokenizer of {encoder} cannot be fetched: {error}") from error
    if not (folder / "tokenizer.json").exists():
        raise CascadaError(f"{encoder} has no tokenizer.json; only fast tokenizers are supported.")
    return folder
