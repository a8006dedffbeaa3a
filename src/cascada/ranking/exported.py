"""An exported ranker on disk: one folder with a graph per stage, the tokenizer and a manifest.

| file | what |
|---|---|
| `cascada.json` | what the ranker is; written last, so that a folder with it is whole |
| `stage-4.onnx`, … | one graph for each exit, named by its layer |
| `stage-4.safe.onnx`, … | of an int8 export: the same with products in float32, for machines that need it |
| `weights.bin` | the weights of all graphs |
| `tokenizer.json` | the tokenizer |
| `manifest.json` | the SHA-256 of every other file |
| `plan.json` | what its exits drop, if it was tuned |
| `README.md` | the model card |
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cascada.errors import CascadaError
from cascada.ranking.folder import SHAPE_FILE, read_shape
from cascada.ranking.plan_file import PLAN_FILE

MANIFEST_FILE = "manifest.json"
WEIGHTS_FILE = "weights.bin"


@dataclass(frozen=True)
class Exported:
    """What the engine has to know before it reads a graph."""

    exits: tuple[int, ...]
    head: str
    max_length: int
    hidden: int
    feed_forward: int
    pad_id: int
    kept: Literal["float32", "float16"]
    """How hidden states are held between stages."""
    precision: str
    """How the products are computed, in words for people."""
    head_width: int | None = None
    """Of the dense layers of a head; `hidden` if not given."""


def stage_name(exit: int) -> str:
    """What an exit's graph is called."""
    return f"stage-{exit}"


def stage_file(exit: int, *, safe: bool = False) -> str:
    """The file of an exit's graph."""
    return graph_file(stage_name(exit), safe=safe)


def graph_file(name: str, *, safe: bool = False) -> str:
    """A graph's file; `safe` is the one that multiplies in float32."""
    return f"{name}{'.safe' if safe else ''}.onnx"


def read_exported(folder: Path) -> Exported:
    """What is written in the folder, once all of its files were found to be those that were written."""
    shape = read_shape(folder)
    try:
        about = Exported(**{name: value for name, value in shape.items() if name != "engine"})
    except TypeError as error:
        raise CascadaError(f"{folder / SHAPE_FILE} is damaged: {error}.") from error
    check_manifest(folder)
    return about


def manifest_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each file but the manifest, and the files that may change later."""
    names = sorted(path.name for path in folder.iterdir() if path.name not in (MANIFEST_FILE, PLAN_FILE, "README.md"))
    return {name: _sha256(folder / name) for name in names}


def check_manifest(folder: Path) -> None:
    """Refuse a folder in which a file is missing, or is not the one that was written."""
    path = folder / MANIFEST_FILE
    try:
        expected: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["sha256"]
        found = {name: _sha256(folder / name) for name in expected}
    except FileNotFoundError as error:
        raise CascadaError(f"{folder} lacks {Path(error.filename).name}: the export is incomplete.") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CascadaError(f"{path} is damaged: {error!r}.") from error
    wrong = [name for name, value in expected.items() if found[name] != value]
    if wrong:
        raise CascadaError(f"{folder / wrong[0]} is not the file that was exported: its SHA-256 is another.")


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
