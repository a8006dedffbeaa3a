"""Checks of a picture's path, before anything is computed for it."""

from __future__ import annotations

from pathlib import Path

from cascada.core.errors import CascadaError, require

PICTURES = (".png", ".svg", ".pdf")
"""Endings of the formats that pictures are written in."""


def check_picture(path: Path) -> None:
    """Raise an error if no picture can be drawn into this path."""
    require("matplotlib", "eval", "drawing")
    if not path.resolve().parent.is_dir():
        raise CascadaError(f"The picture {path} cannot be written: there is no folder {path.parent}.")
    if path.suffix not in PICTURES:
        raise CascadaError(f"The picture {path} cannot be written: its name must end in {', '.join(PICTURES)}.")
