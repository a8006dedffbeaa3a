"""The contract between the rooms: imports go one way, and torch is loaded only where it may be. Late imports count."""

import ast
import textwrap
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

import cascada

SOURCE = Path(cascada.__file__).parent

LAYERS = (
    ("core",),
    ("text",),
    ("data", "store"),
    ("metrics",),
    ("ranking",),
    ("objectives", "encoders"),
    ("graphs",),
    ("systems",),
    ("training",),
    ("learning",),  # the parts of a system's room that train it
    ("reading", "acceleration"),
    ("search",),
    ("client", "serve", "integrations", "bench", "api"),
    ("scale", "reproduce"),
    ("cli",),
)
"""Rooms from the lowest up. A module imports from its own room and from lower layers."""

LEARNING = ("systems.*.learner", "systems.*.settings", "systems.*.examples")

TORCH = (
    "objectives.losses",
    "objectives.level_heads",
    "encoders.*",
    "graphs.ranges",
    "graphs.stage_graph",
    "graphs.transformer",
    "graphs.layers",
    "graphs.rotary",
    "graphs.disentangled",
    "graphs.graph",
    "graphs.products",
    "systems.export",
    "systems.exit_zero_learning",
    *(
        f"systems.*.{name}"
        for name in (
            [
                "network",
                "heads",
                "hierarchical_heads",
                "interaction",
                "meeting",
                "towers",
                "aggregation",
                "folder",
                "calibrate",
                "export",
                "export_lstm",
                "unpack",
                "engine_torch",
            ]
        )
    ),
    "systems.cosine.stages",
    *LEARNING,
    "training.*",
    *(f"acceleration.{name}" for name in ("accelerate", "exits", "heads", "joint", "pooled")),
    *(f"reading.{name}" for name in ("engine_torch", "examples", "export", "folder", "learner", "network", "settings")),
    "bench.prepare",
    "bench.peer_folder",
    "scale.*",
)
"""What may load torch as soon as it is imported."""

HEAVY = ("torch", "transformers", "accelerate", "safetensors", "onnx")


def room_of(module: str) -> str:
    return "learning" if any(fnmatch(module, pattern) for pattern in LEARNING) else module.partition(".")[0]


def layer_of(module: str) -> int:
    return next(number for number, rooms in enumerate(LAYERS) if room_of(module) in rooms)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imported(code: str, *, late: bool = True) -> set[str]:
    """The modules that some code names in import statements: all of them, or those that run when it is imported."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse(code)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif late or not (is_type_checking(node) or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))):
            pending += ast.iter_child_nodes(node)
    return found


@cache
def modules() -> dict[str, Path]:
    """Name without `cascada.` → file. What runs in another environment's Python is no part of the package."""
    files = {
        str(path.relative_to(SOURCE).with_suffix("")).replace("/", ".").removesuffix(".__init__"): path
        for path in SOURCE.rglob("*.py")
        if "adapters" not in path.parts
    }
    return {name: path for name, path in files.items() if name != "__init__"}


def own(names: set[str]) -> set[str]:
    """Those of some imported names that are modules of the package."""
    return {name.removeprefix("cascada.") for name in names} & modules().keys()


def violations(module: str, code: str) -> list[str]:
    """Imports that go up, or sideways into another room."""
    here = layer_of(module)
    return [
        f"{module} imports {other}"
        for other in sorted(own(imported(code)))
        if layer_of(other) > here or (layer_of(other) == here and room_of(other) != room_of(module))
    ]


@cache
def loads_torch(module: str) -> bool:
    """Whether importing a module imports torch or what comes with it, itself or through others."""
    names = imported(modules()[module].read_text(encoding="utf-8"), late=False)
    packages = {parent for name in own(names) for parent in parents(name)}
    heavy = any(name.partition(".")[0] in HEAVY for name in names)
    return heavy or any(loads_torch(other) for other in (own(names) | packages) - {module, *parents(module)})


def parents(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts))} & modules().keys()


def test_every_room_has_its_layer():
    rooms = {room_of(name) for name in modules()}
    assert rooms == {room for layer in LAYERS for room in layer}


def test_imports_go_one_way():
    found = [line for name, path in modules().items() for line in violations(name, path.read_text(encoding="utf-8"))]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("ranking.plan", "from cascada.systems.load import load"),
        ("core.files", "def late():\n    from cascada.data import read"),
        ("training.single_run", "from cascada.systems.decoupled import learner"),
        ("text.words", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from cascada.data.group import Group"),
        ("encoders.files", "import cascada.objectives.losses"),
    ],
    ids=["upward", "late", "into a room's learner", "for types only", "sideways"],
)
def test_an_import_against_the_direction_is_found(module, code):
    assert violations(module, textwrap.dedent(code))


def test_torch_is_loaded_only_where_it_may_be():
    found = [name for name in modules() if loads_torch(name) and not any(fnmatch(name, one) for one in TORCH)]
    assert not found


def test_rooms_are_looked_up_by_name_in_the_registry_alone():
    """A string can name any module, so that it could carry an import past this contract."""
    found = {name for name, path in modules().items() if "import_module" in path.read_text(encoding="utf-8")}
    assert found == {"core.errors", "systems.registry"}
