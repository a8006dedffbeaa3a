"""The manifest of an exported ranker: `manifest.json`, with the SHA-256 of every file that the ranker is loaded from.

It reveals damaged and replaced files. It is not a signature: whoever can change the folder can change the manifest.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from cascada.core.errors import CascadaError

MANIFEST_FILE = "manifest.json"
FORMAT = 1

UNLISTED = (MANIFEST_FILE, "plan.json", "README.md")
"""The manifest itself, and what may change after the export: the plan and the card."""

LOADED = (".onnx", ".bin", ".npz")
"""Suffixes of files that engines load. A file with one of them must be in the manifest."""


def write_manifest(folder: Path) -> None:
    """Write the manifest of the files that are in `folder` now."""
    content = json.dumps({"format": FORMAT, "sha256": manifest_of(folder)}, indent=2)
    (folder / MANIFEST_FILE).write_text(content, encoding="utf-8")


def manifest_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each file, except the manifest itself, the plan and the card."""
    names = sorted(path.name for path in folder.iterdir() if path.name not in UNLISTED)
    return {name: _sha256(folder / name) for name in names}


def check_manifest(folder: Path, *, lists: str) -> None:
    """Reject a folder if a listed file is missing or has another checksum, or if a file that engines load is unlisted.

    `lists` is a file that the manifest must list in any case.
    """
    expected = _checksums(folder / MANIFEST_FILE)
    loaded = {path.name for path in folder.iterdir() if path.suffix in LOADED}
    unlisted = sorted((loaded | {lists}) - expected.keys())
    if unlisted:
        raise CascadaError(f"{folder / MANIFEST_FILE} does not list {unlisted[0]}: export the ranker again.")
    for name, checksum in expected.items():
        path = folder / name
        if not path.is_file():
            raise CascadaError(f"{folder} lacks {name}: the export is incomplete.")
        if _sha256(path) != checksum:
            raise CascadaError(f"{path} is not the file that was exported: its SHA-256 differs.")


def _checksums(path: Path) -> dict[str, str]:
    """The checksums in a manifest, by the names of the files. A manifest without a format has format 1."""
    if not path.is_file():
        raise CascadaError(f"{path.parent} lacks {path.name}: the export is incomplete.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CascadaError(f"{path} is damaged: it is not JSON in UTF-8.") from error
    version = content.get("format", FORMAT) if isinstance(content, dict) else FORMAT
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}.")
    checksums = content.get("sha256") if isinstance(content, dict) else None
    if not isinstance(checksums, dict) or not checksums or not all(map(_is_plain_name, checksums)):
        raise CascadaError(f"{path} is damaged: it holds no checksums of files in this folder.")
    return checksums


def _is_plain_name(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\\0:")


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
