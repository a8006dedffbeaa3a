"""The size on disk of a distribution and its dependencies. Run as a script, by any Python.

python installed.py cascada  →  {"bytes": …, "distributions": {"numpy": …, …}}
"""

from __future__ import annotations

import json
import sys
from importlib import metadata, util
from pathlib import Path


def installed(name: str) -> dict[str, int]:
    """Bytes of each distribution; extras do not count."""
    sizes: dict[str, int] = {}
    waiting = [name]
    while waiting:
        current = _normalised(waiting.pop())
        if current in sizes:
            continue
        distribution = metadata.distribution(current)
        sizes[current] = _size(distribution) + (_editable_size(current) if current == _normalised(name) else 0)
        waiting += _required(distribution)
    return sizes


def _required(distribution: metadata.Distribution) -> list[str]:
    from packaging.requirements import Requirement

    requirements = [Requirement(line) for line in distribution.requires or []]
    return [
        requirement.name
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    ]


def _size(distribution: metadata.Distribution) -> int:
    paths = [Path(str(distribution.locate_file(file))) for file in distribution.files or []]
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")


def _editable_size(name: str) -> int:
    """The size of a package in editable mode, whose sources are not among its distribution's files; 0 otherwise."""
    spec = util.find_spec(name.replace("-", "_"))
    folder = Path(spec.origin).parent if spec and spec.origin else None
    if folder is None or any("site-packages" in part for part in folder.parts):
        return 0
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def _normalised(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


if __name__ == "__main__":
    sizes = installed(sys.argv[1])
    print(json.dumps({"bytes": sum(sizes.values()), "distributions": sizes}))
