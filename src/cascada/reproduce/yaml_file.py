"""YAML files that are checked whole when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from cascada.core.errors import CascadaError


class Strict(BaseModel):
    """Unknown keys are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Content = TypeVar("Content", bound=Strict)


def read_yaml(path: Path, kind: type[Content], *, if_missing: str = "") -> Content:
    """Read a file and check its content; `if_missing` says what to do about a file that cannot be read."""
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CascadaError(" ".join(filter(None, (f"{path} cannot be read: {error.strerror}.", if_missing)))) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CascadaError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise CascadaError(f"{path}: {key}: {first['msg'].removeprefix('Value error, ')}.") from error
