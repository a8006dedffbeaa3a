"""What an installation takes on disk: a distribution and all that it requires. Run as a file, by any Python.

python installed.py cascada  →  {"bytes": …, "distributions": {"numpy": …, …}}
"""

from __future__ import annotations

import json
import sys
from importlib import metadata, util
from pathlib import Path


def installed(name: str) -> dict[str, int]:
    """Bytes of each distribution; extras are not followed."""
    sizes: dict[str, int] = {}
    waiting = [name]
    while waiting:
        one = _normal(waiting.pop())
        if one in sizes:
            continue
        distribution = metadata.distribution(one)
        sizes[one] = _size(distribution) + (_edited(one) if one == _normal(name) else 0)
        waiting += _required(distribution)
    return sizes


def _required(distribution: metadata.Distribution) -> list[str]:
    from packaging.requirements import Requirement

    requirements = [Requirement(line) for line in distribution.requires or []]
    return [one.name for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]


def _size(distribution: metadata.Distribution) -> int:
    paths = [Path(str(distribution.locate_file(file))) for file in distribution.files or []]
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")


def _edited(name: str) -> int:
    """A package that is installed as a link to its sources is not among its distribution's files."""
    found = util.find_spec(name.replace("-", "_"))
    folder = Path(found.origin).parent if found and found.origin else None
    if folder is None or any("site-packages" in part for part in folder.parts):
        return 0
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


if __name__ == "__main__":
    found = installed(sys.argv[1])
    print(json.dumps({"bytes": sum(found.values()), "distributions": found}))
