"""The weights and the tokenizer files in a model's folder."""

from __future__ import annotations

import os
import re
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


def write_weights(model: nn.Module, folder: Path, name: str = WEIGHTS_FILE) -> None:
    """Write all weights of the model into a file of the folder."""
    weights = {key: value.contiguous() for key, value in model.state_dict().items()}
    try:
        save_file(weights, folder / name)
    except SafetensorError as error:
        code = re.search(r"os error (\d+)", str(error))  # the library wraps what the system said
        if code is None:
            raise
        raise OSError(int(code[1]), os.strerror(int(code[1])), str(folder / name)) from error


def copy_tokenizer(tokenizer: Path, folder: Path) -> None:
    """Copy the tokenizer files that exist; which ones exist depends on the encoder."""
    for name in TOKENIZER_FILES:
        if (tokenizer / name).exists():
            shutil.copy(tokenizer / name, folder)


def read_weights(model: nn.Module, folder: Path, *, prefix: str = "", name: str = WEIGHTS_FILE) -> None:
    """Load the weights in the folder into the model.

    With `prefix`, the model is a part of the saved one: names with this prefix are its weights, others are ignored.
    """
    path = folder / name
    try:
        weights = load_file(path)
        if prefix:
            own = {f"{prefix}{key}" for key in model.state_dict()}
            weights = {key.removeprefix(prefix): weight for key, weight in weights.items() if key in own}
        model.load_state_dict(weights)
    except (OSError, SafetensorError) as error:
        raise CascadaError(f"{path} cannot be read ({error}): the checkpoint is incomplete or damaged.") from error
    except RuntimeError as error:
        raise CascadaError(f"{path} does not hold the weights that {SHAPE_FILE} describes.") from error


def tokenizer_folder(encoder: str) -> Path:
    """The folder of an encoder's tokenizer files: the encoder's own, or the local copy of a hub model."""
    folder = Path(encoder)
    if not folder.is_dir():
        try:
            folder = Path(snapshot_download(encoder, allow_patterns=list(TOKENIZER_FILES)))
        except (OSError, HfHubHTTPError, HFValidationError) as error:
            raise CascadaError(f"The tokenizer of {encoder} cannot be fetched: {error}") from error
    if not (folder / "tokenizer.json").exists():
        raise CascadaError(f"{encoder} has no tokenizer.json; only fast tokenizers are supported.")
    return folder
