"""Which kind of model lives in which room. Loading, training, export, model cards and benchmarks ask here.

A room is a package, and its file names are its interface. All of them are imported when they are first needed.

| file | what it has to define |
|---|---|
| `engine.py` | `load(folder, store, add=…)`: the ranker in a folder |
| `export.py` | `exporter(folder, precision)`: what writes the ranker as graphs |
| `settings.py` | `Model` and `Training`: what a recipe may say; `origin(model)`: what the weights started from |
| `learner.py` | `trainer(recipe, folder)`: a new model and what trains it; `card(…)`: the model card |

A new system is a new room and one line in `ROOMS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from cascada.core.errors import CascadaError
from cascada.core.folder import COMPARE_AGGREGATE, DECOUPLED, READER, TRANSFORMER

ROOMS = {
    TRANSFORMER: "cascada.systems.cascade",
    COMPARE_AGGREGATE: "cascada.systems.compare_aggregate",
    DECOUPLED: "cascada.systems.decoupled",
}
"""Kind of ranker, as `cascada.json` and recipes name it → its room."""

UNTRAINED = {"bm25": "cascada.systems.bm25", "cosine": "cascada.systems.cosine"}
"""Rankers that are named rather than kept in a folder, `NAME` or `NAME:ARGUMENT` → a room whose `engine.py` has
`load(argument, texts)`."""

READERS = {READER: "cascada.reading"}
"""Models that do not rank. Their rooms have `settings.py` and `learner.py` only."""

Part = Literal["engine", "export", "settings", "learner"]


def part(kind: str, name: Part) -> Any:
    """One module of the room of a kind."""
    rooms = ROOMS | READERS
    if kind not in rooms:
        raise CascadaError(f"The kind of model is {kind!r}; there are {', '.join(rooms)}.")
    return import_module(f"{rooms[kind]}.{name}")


def untrained(name: str) -> tuple[Any, str] | None:
    """The engine of a named ranker and the argument behind the colon; None if the name is not one of `UNTRAINED`."""
    system, colon, argument = name.partition(":")
    if system not in UNTRAINED or (system == "cosine" and not colon):
        return None
    return import_module(f"{UNTRAINED[system]}.engine"), argument
