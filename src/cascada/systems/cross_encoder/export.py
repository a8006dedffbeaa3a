"""Export of cross-encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cascada.core.errors import CascadaError


def exporter(folder: Path, precision: str) -> Any:
    """Refuse: there are no graphs of a cross-encoder's own head yet."""
    raise CascadaError(f"{folder} is a cross-encoder, which cannot be exported yet; it ranks in torch.")
