"""The room of each kind of model: a package. Loading, training, export, model cards and benchmarks look it up here.

The file names of a room are its interface. A file is imported when it is first needed.

| file | what it has to define |
|---|---|
| `engine.py` | `load(folder, store, add=…)`: the ranker in a folder; `READS_STORE`: whether it reads stored encodings |
| `export.py` | `exporter(folder, precision)`: an `Exporter`, which writes the ranker as ONNX graphs |
| `folder.py` | `load(folder)` and `save(model, folder, …)`; `with_exits(folder, exits)` if exits can be chosen anew |
| `settings.py` | `Model` and `Training`: the keys of a recipe; `origin(model)`: what the weights started from |
| `learner.py` | `trainer(recipe, folder)`: a new model with its trainer; `card(…)`: the model card |

The other files have the same names in every room: `shape.py` (sizes, no weights), `network.py`, `engine_onnx.py` and
`engine_torch.py` (one engine each, between which `engine.py` chooses), `stages.py` (stages that do not depend on the
engine), `cost.py`. `folder.py` also has `begin`, which makes a model to train.
A room imports no other room.

A new system is a new room and one line in `ROOMS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from cascada.core.errors import CascadaError
from cascada.core.folder import CROSS_ENCODER, READER, TRANSFORMER

ROOMS = {
    TRANSFORMER: "cascada.systems.cascade",
    "compare-aggregate": "cascada.systems.compare_aggregate",
    "decoupled": "cascada.systems.decoupled",
}
"""Kind of ranker, as `cascada.json` and recipes name it → its room."""

AS_THEY_COME = {CROSS_ENCODER: "cascada.systems.cross_encoder"}
"""Rankers that no recipe trains: their rooms have neither `settings.py` nor `learner.py`."""

OF_AN_ENCODER = ("cosine", "late")
"""Untrained rankers of an encoder, `NAME:FOLDER`."""
UNTRAINED = {"bm25": "cascada.systems.bm25", **dict.fromkeys(OF_AN_ENCODER, "cascada.systems.cosine")}
"""Rankers that have a name instead of a folder, `NAME` or `NAME:ARGUMENT` → a room whose `engine.py` defines
`load(name, argument, texts)`."""

READERS = {READER: "cascada.reading"}
"""Models that do not rank. `load` in their `engine.py` takes the folder only, and returns no ranker."""

Part = Literal["engine", "export", "settings", "learner", "folder"]


def part(kind: str, name: Part) -> Any:
    """Import one file of the room of a kind."""
    if kind in AS_THEY_COME and name not in ("settings", "learner"):
        return import_module(f"{AS_THEY_COME[kind]}.{name}")
    rooms = ROOMS | READERS
    if kind not in rooms:
        raise CascadaError(f"The kind of model is {kind!r}; there are {', '.join(rooms)}.")
    return import_module(f"{rooms[kind]}.{name}")


def untrained_engine(name: str) -> tuple[Any, str, str] | None:
    """The engine of an untrained ranker, its name and the argument after the colon; None if there is no such ranker."""
    system, colon, argument = name.partition(":")
    if system not in UNTRAINED or (system in OF_AN_ENCODER and not colon):
        return None
    return import_module(f"{UNTRAINED[system]}.engine"), system, argument


def split_encoder(name: str) -> tuple[str, str]:
    """A ranker's name as prefix and folder: `cosine:FOLDER` is ("cosine:", "FOLDER"), `FOLDER` is ("", "FOLDER")."""
    system, colon, folder = name.partition(":")
    return (f"{system}:", folder) if colon and system in OF_AN_ENCODER else ("", name)
