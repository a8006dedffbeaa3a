"""Where what can be made again is kept: the folder CASCADA_CACHE, or the usual place for such things."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """It need not exist yet."""
    home = os.environ.get("CASCADA_CACHE")
    if home:
        return Path(home)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cascada"
