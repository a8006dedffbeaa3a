"""The folder format that all models share. Only this module, and `manifest` for the checksums, reads and writes it.

| file | content |
|---|---|
| `cascada.json` | format version, kind and shape; written last, so a folder that has it is complete |
| `config.json`, `model.safetensors`, `tokenizer.json` | of a trained model: encoder config, weights and tokenizer |
| `stage-4.onnx`, …, `weights.bin` | of an exported ranker: one graph per exit, and the weights of all graphs |
| `stage-4.safe.onnx`, … | of an int8 export: the same graphs with float32 products, for machines that need them |
| `reader.onnx` | of an exported reader: its one graph |
| `manifest.json` | of an exported model: the SHA-256 of every other file |
| `plan.json` | the drop plan, if the ranker was tuned |
| `README.md` | the model card |
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

from cascada.core.errors import CascadaError, described
from cascada.core.files import NO_SPACE, reason_of
from cascada.core.manifest import check_manifest, write_manifest
from cascada.core.shape_types import check_types

SHAPE_FILE = "cascada.json"
PLAN_FILE = "plan.json"
CARD_FILE = "README.md"
FORMAT = 1

TRANSFORMER, READER, CROSS_ENCODER = "transformer", "reader", "cross-encoder"
"""Three kinds of models: a folder that names no kind holds a transformer, a reader does not rank, and a folder in the
hub's layout, without `cascada.json`, is an unmodified cross-encoder. The kinds of all rankers are in
`cascada.systems.registry`."""

HUB_CONFIG = "config.json"

BUNDLED = "cascada-mini"
"""The model that comes with the package."""
BUNDLED_FOLDER = Path(__file__).parents[1] / "bundled" / BUNDLED

Shape = TypeVar("Shape")


def named_folder(name: str | Path) -> Path:
    """The folder of that name; if there is none, `cascada-mini` is the bundled model."""
    return BUNDLED_FOLDER if str(name) == BUNDLED and not Path(name).exists() else Path(name)


def read_shape(folder: Path) -> dict[str, Any]:
    """Read `folder`/cascada.json, without its format version; `exits` becomes a tuple.

    A folder in the hub's layout has no such file: it is a cross-encoder with one exit, after its last layer.
    """
    path = folder / SHAPE_FILE
    if not folder.is_dir():
        raise CascadaError(f"There is no folder {folder}.")
    if not path.is_file():
        return _hub_shape(folder)
    try:
        shape = json.loads(path.read_text(encoding="utf-8"))
        version = shape.pop("format")
        shape["exits"] = _layers(shape["exits"])
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise CascadaError(f"{path} is damaged: {described(error)}.") from error
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}.")
    return dict(shape)


def _layers(exits: Any) -> tuple[int, ...]:
    if not isinstance(exits, list) or not all(type(layer) is int for layer in exits):
        raise CascadaError(f"exits are {exits!r}; they must be a list of layers")
    return tuple(exits)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Read a file of a model within the block. Errors that its content causes become a CascadaError."""
    try:
        yield
    except OSError as error:
        raise CascadaError(f"{path} cannot be read: {described(error)}.") from error
    except (ValueError, TypeError, LookupError, OverflowError, EOFError, BadZipFile, zlib.error) as error:
        if isinstance(error, CascadaError):
            raise
        raise CascadaError(
            f"{path} is damaged, or not what its model needs: fetch or export the model again."
        ) from error


def _hub_shape(folder: Path) -> dict[str, Any]:
    """The shape of an unmodified cross-encoder; only `cascada.systems.cross_encoder` knows whether it can be run."""
    lacking = f"{folder} is not a ranker: it has no {SHAPE_FILE}"
    if not (folder / HUB_CONFIG).is_file():
        raise CascadaError(f"{lacking}. Train one with `cascada train`.")
    try:
        config = json.loads((folder / HUB_CONFIG).read_text(encoding="utf-8"))
        names = [str(name) for name in config.get("architectures") or ["a model without a name"]]
        depth = config.get("n_layers" if config.get("model_type") == "distilbert" else "num_hidden_layers")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CascadaError(f"{folder / HUB_CONFIG} is damaged: {described(error)}.") from error
    if "For" not in names[0] and "LMHead" not in names[0]:  # a bare encoder, or a ranker that was not saved to the end
        raise CascadaError(f"{lacking}, and its {HUB_CONFIG} is that of {names[0]}, not of a cross-encoder.")
    return {"kind": CROSS_ENCODER, "exits": (int(depth) if isinstance(depth, int) else 0,)}


def kind_of(folder: Path) -> str:
    """Kind of the model in a folder."""
    return str(read_shape(folder).get("kind", TRANSFORMER))


def is_exported(folder: Path) -> bool:
    """Whether the folder holds graphs for ONNX Runtime rather than weights that can be trained."""
    return "engine" in read_shape(folder)


def parse_shape(folder: Path, shape: Callable[..., Shape], *, ignore: tuple[str, ...] = ()) -> Shape:
    """Build the dataclass `shape` from `folder`/cascada.json, without its engine, its kind and the keys in `ignore`.

    Every value has the type that the dataclass says, and no size is absurd: such a ranker would fail later, or take all
    memory.
    """
    values = {name: value for name, value in read_shape(folder).items() if name not in ("engine", "kind", *ignore)}
    try:
        read = shape(**values)
        check_types(read)
    except (CascadaError, TypeError, AttributeError, ValueError) as error:
        raise CascadaError(f"{folder / SHAPE_FILE} is damaged: {str(error).removesuffix('.')}.") from error
    return read


def read_exported_shape(folder: Path, shape: Callable[..., Shape], *, ignore: tuple[str, ...] = ()) -> Shape:
    """`parse_shape` for an exported model; the checksums of all of its files are verified."""
    read = parse_shape(folder, shape, ignore=ignore)
    check_manifest(folder, lists=SHAPE_FILE)
    return read


def require_trained(folder: Path, kind: str, wanted: str) -> None:
    """Reject an exported model and a model of another kind; `wanted` is the kind in words."""
    actual = kind_of(folder)
    if is_exported(folder):
        model, use = ("reader", "reading") if actual == READER else ("ranker", "ranking")
        raise CascadaError(
            f"{folder} is an exported {model}, for {use} only; train, cut or export the {model} it was exported from."
        )
    if actual != kind:
        raise CascadaError(f"{folder} is a {actual} ranker; this needs {wanted}.")


def require_no_ranker(folder: Path) -> None:
    """Reject a folder to write to that already holds a ranker."""
    if (folder / SHAPE_FILE).exists():
        raise CascadaError(f"{folder} already holds a ranker; name another folder.")


def read_card(folder: Path) -> str:
    """Text of the model card; empty if there is none."""
    path = folder / CARD_FILE
    return path.read_text(encoding="utf-8") if path.exists() else ""


@contextmanager
def saving(
    folder: Path, shape: Mapping[str, Any], *, card: str | None = None, manifest: bool = False
) -> Iterator[Path]:
    """Yield a temporary folder for a model's files, then move them into `folder`, `cascada.json` last.

    If writing fails, `folder` keeps its content, or is removed if it is new. While files are being moved, it lacks
    `cascada.json`, so it does not load as a model.
    """
    with _created(folder), tempfile.TemporaryDirectory(dir=folder, prefix=".saving-") as work:
        temporary = Path(work)
        yield temporary
        if card is not None:
            (temporary / CARD_FILE).write_text(card, encoding="utf-8")
        (temporary / SHAPE_FILE).write_text(json.dumps({"format": FORMAT, **shape}, indent=2), encoding="utf-8")
        if manifest:
            write_manifest(temporary)
        for path in temporary.glob("*.safetensors"):
            shutil.copymode(temporary / SHAPE_FILE, path)  # safetensors writes files that only their owner can read
        (folder / SHAPE_FILE).unlink(missing_ok=True)
        for path in sorted(temporary.iterdir(), key=lambda path: path.name == SHAPE_FILE):
            os.replace(path, folder / path.name)


@contextmanager
def _created(folder: Path) -> Iterator[None]:
    """Create `folder` for the block; if the block fails, remove what was created, and say where there is no space."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        for path in new:
            with suppress(OSError):
                path.rmdir()
        if isinstance(error, OSError) and (error.errno in NO_SPACE or not folder.exists()):
            raise CascadaError(f"{folder} cannot be written: {reason_of(error)}") from error
        raise
