"""Results that are kept in the repository, one small JSON file per study, so that they outlive models and machines.

A file has a line for each row, test set and seed. Keeping a study's results replaces the lines of the same row, test
set and seed and leaves the others, so that seeds and rows can be added months apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write
from cascada.reproduce.runner import machine
from cascada.training.measured import MEASURED_FILE, Result, write_results

Key = tuple[str, str, int]
"""(row, test set, seed)"""


@dataclass(frozen=True)
class KeptResults:
    """The results of one study."""

    results: tuple[Result, ...] = ()

    def of(self, row: str, test: str) -> list[Result]:
        """The results of a row on a test set, one per seed, in the order of the seeds."""
        own = [result for result in self.results if (result["row"], result["test"]) == (row, test)]
        return sorted(own, key=lambda result: int(result["seed"]))


def read_kept(path: Path) -> KeptResults:
    """Read a file of kept results, or a study's own; a file that does not exist has none."""
    if not path.exists():
        return KeptResults()
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        for result in results:
            _ = _key(result), result["values"], result["questions"], result["digest"]
        return KeptResults(tuple(results))
    except (ValueError, KeyError, TypeError) as error:
        raise CascadaError(f"{path} is not a file of kept results ({described(error)}).") from error


def keep(source: Path, folder: Path) -> Path:
    """Add a study's results to the file of its name in `folder`; returns the file.

    `source` is the study's folder, or a JSON file that `benchmarks/open_qa.py --json` printed.
    """
    path = source / MEASURED_FILE if source.is_dir() else source
    if not path.exists():
        raise CascadaError(f"{path} does not exist: `cascada train` writes it after every run of a study.")
    content = _read(path)
    name = content.get("study") or source.stem
    new = _of_open_qa(content, name) if "results" not in content else list(read_kept(path).results)
    kept = folder / f"{name}.json"
    merged = merge(read_kept(kept).results, new, kept)
    folder.mkdir(parents=True, exist_ok=True)
    about = machine()
    head = {
        "study": name,
        "kept": datetime.now(UTC).date().isoformat(),
        "machine": f"{about['processor']}, {about['cores']} cores",
        "versions": about["versions"],
    }
    with atomic_write(kept) as file:
        write_results(file, head, merged)
    return kept


def merge(old: Sequence[Result], new: Sequence[Result], path: Path) -> list[Result]:
    """The old results with the new ones, which replace those of the same row, test set and seed."""
    digests = {result["test"]: result["digest"] for result in new}
    for result in old:
        if digests.get(result["test"], result["digest"]) != result["digest"]:
            raise CascadaError(
                f"{path}: its results on {result['test']} are over other questions than the new ones, so that they "
                "cannot be compared: move the file away to begin anew."
            )
    merged = {_key(result): result for result in [*old, *new]}
    return [merged[key] for key in sorted(merged)]


def described(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def _key(result: Mapping[str, Any]) -> Key:
    return result["row"], result["test"], result["seed"]


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CascadaError(f"{path} cannot be read as results: {error}.") from error
    if not isinstance(content, dict) or not {"results", "rows"} & content.keys():
        raise CascadaError(
            f"{path} has no results: give a study's folder, or what benchmarks/open_qa.py --json prints."
        )
    return content


def _of_open_qa(content: Mapping[str, Any], name: str) -> list[Result]:
    """The table of `benchmarks/open_qa.py`: its means only, as seed 1."""
    rows = []
    for row in content["rows"]:
        values = {key: value for key, value in row.items() if isinstance(value, (int, float))}
        about = {"row": row["reranker"], "test": "open-qa", "seed": 1, "questions": content["questions"]}
        rows.append({**about, "digest": f"{name}-{content['questions']}", "values": values})
    return rows
