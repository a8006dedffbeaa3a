"""The folder format that all models share: read and written here, and nowhere else.

| file | what |
|---|---|
| `cascada.json` | format version, kind and shape; moved into place last, so that a folder with it is complete |
| `config.json`, `model.safetensors`, `tokenizer.json` | of a trained model: the encoder's config, weights, tokenizer |
| `stage-4.onnx`, …, `weights.bin` | of an exported ranker: one graph for each exit, and the weights of all graphs |
| `stage-4.safe.onnx`, … | of an int8 export: the same graphs with float32 products, for machines that need them |
| `manifest.json` | of an exported ranker: the SHA-256 of every other file |
| `plan.json` | what its exits drop, if it was tuned |
| `README.md` | the model card |
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from cascada.core.errors import CascadaError

SHAPE_FILE = "cascada.json"
MANIFEST_FILE = "manifest.json"
PLAN_FILE = "plan.json"
CARD_FILE = "README.md"
FORMAT = 1

TRANSFORMER, DECOUPLED, COMPARE_AGGREGATE, READER = "transformer", "decoupled", "compare-aggregate", "reader"
"""The kinds of models. The folder of a transformer does not name its kind."""

Shape = TypeVar("Shape")


def read_shape(folder: Path) -> dict[str, Any]:
    """What `folder`/cascada.json says, without the format version."""
    path = folder / SHAPE_FILE
    if not folder.is_dir():
        raise CascadaError(f"There is no folder {folder}.")
    if not path.is_file():
        raise CascadaError(f"{folder} is not a ranker: it has no {SHAPE_FILE}. Train one with `cascada train`.")
    try:
        shape = json.loads(path.read_text(encoding="utf-8"))
        version = shape.pop("format")
        shape["exits"] = tuple(int(layer) for layer in shape["exits"])
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise CascadaError(f"{path} is damaged: {error!r}.") from error
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}.")
    return dict(shape)


def kind_of(folder: Path) -> str:
    """The kind of the model in a folder."""
    return str(read_shape(folder).get("kind", TRANSFORMER))


def is_exported(folder: Path) -> bool:
    """Whether the folder holds graphs for ONNX Runtime rather than weights that can be trained."""
    return "engine" in read_shape(folder)


def parsed(folder: Path, shape: Callable[..., Shape], *, ignore: tuple[str, ...] = ()) -> Shape:
    """The folder's shape as a dataclass; keys named in `ignore` are not passed to it."""
    values = {name: value for name, value in read_shape(folder).items() if name not in ("engine", "kind", *ignore)}
    try:
        return shape(**values)
    except (TypeError, AttributeError) as error:
        raise CascadaError(f"{folder / SHAPE_FILE} is damaged: {error}.") from error


def require_trained(folder: Path, kind: str, wanted: str) -> None:
    """Refuse an exported ranker, and a model of another kind; `wanted` describes the kind in words."""
    if is_exported(folder):
        raise CascadaError(
            f"{folder} is an exported ranker, for ranking only; train, cut or export the one it was made of."
        )
    found = kind_of(folder)
    if found != kind:
        raise CascadaError(f"{folder} is a {found} ranker; this needs {wanted}.")


def refuse_a_ranker(folder: Path) -> None:
    """Refuse to write into a folder that already holds a ranker."""
    if (folder / SHAPE_FILE).exists():
        raise CascadaError(f"{folder} is a ranker already; name another folder.")


def own_card(folder: Path) -> str:
    """The model card; empty if there is none."""
    path = folder / CARD_FILE
    return path.read_text(encoding="utf-8") if path.exists() else ""


@contextmanager
def saving(
    folder: Path, shape: Mapping[str, Any], *, card: str | None = None, manifest: bool = False
) -> Iterator[Path]:
    """Yield a temporary folder to write a model's files into; on leaving, move them into `folder`, `cascada.json` last.

    Until that last file is in place, the folder is not a model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SHAPE_FILE).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".saving-") as work:
        temporary = Path(work)
        yield temporary
        if card is not None:
            (temporary / CARD_FILE).write_text(card, encoding="utf-8")
        (temporary / SHAPE_FILE).write_text(json.dumps({"format": FORMAT, **shape}, indent=2), encoding="utf-8")
        if manifest:
            content = json.dumps({"sha256": manifest_of(temporary)}, indent=2)
            (temporary / MANIFEST_FILE).write_text(content, encoding="utf-8")
        for path in temporary.glob("*.safetensors"):
            shutil.copymode(temporary / SHAPE_FILE, path)  # safetensors makes files that only their owner can read
        for path in sorted(temporary.iterdir(), key=lambda path: path.name == SHAPE_FILE):
            os.replace(path, folder / path.name)


def manifest_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each file, except the manifest and the files that may change later."""
    names = sorted(path.name for path in folder.iterdir() if path.name not in (MANIFEST_FILE, PLAN_FILE, CARD_FILE))
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
