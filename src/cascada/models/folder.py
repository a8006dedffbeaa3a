"""How a ranker's folder is written and its weights are read, whatever kind of ranker it is."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from cascada.errors import CascadaError
from cascada.ranking.folder import FORMAT, SHAPE_FILE

WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


@contextmanager
def saving(folder: Path, shape: Mapping[str, Any], *, card: str) -> Iterator[Path]:
    """A place to write a ranker's files in; at the end they move into `folder`, its shape last.

    Until that last file is in place, the folder is no ranker.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SHAPE_FILE).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".saving-") as work:
        made = Path(work)
        yield made
        (made / "README.md").write_text(card, encoding="utf-8")
        (made / SHAPE_FILE).write_text(json.dumps({"format": FORMAT, **shape}, indent=2), encoding="utf-8")
        if (made / WEIGHTS_FILE).exists():
            shutil.copymode(made / SHAPE_FILE, made / WEIGHTS_FILE)  # safetensors lets nobody else read it
        for path in sorted(made.iterdir(), key=lambda path: path.name == SHAPE_FILE):
            os.replace(path, folder / path.name)


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
