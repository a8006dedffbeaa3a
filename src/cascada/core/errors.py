"""Exceptions for users' mistakes: one sentence that says what was wrong, where, and what to do."""

from __future__ import annotations

import importlib
import json
from types import ModuleType


class CascadaError(ValueError):
    """A user's mistake. The command line prints its sentence and exits with code 2, without a traceback."""


class DataError(CascadaError):
    """Data that does not have the expected form."""

    @classmethod
    def at(cls, path: object, line: int, problem: str) -> DataError:
        """Name the file and the line (counted from 1): `train.tsv, line 12: expected …, found …`."""
        return cls(f"{path}, line {line}: {problem}")


class NotHeld(CascadaError):
    """The requested part is held by another machine."""


class TextTooLong(CascadaError):
    """A text that the model cannot read whole, where cutting it was declined."""


class MissingExtra(CascadaError, ImportError):
    """An optional package is needed and not installed."""


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra installs it: `measuring needs pytrec_eval: pip install "cascada[eval]"`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(f'{purpose} needs {error.name or module}: pip install "cascada[{extra}]"') from error


def require_torch(purpose: str = "the torch engine") -> None:
    """Raise MissingExtra if torch, or a library that is used with it, is not installed."""
    for module in ("torch", "transformers", "safetensors"):
        require(module, "train", purpose)


def first_line(error: Exception) -> str:
    """First line of another library's message; the other lines are mostly advice for its own users."""
    return str(error).strip().split("\n")[0]


def described(error: Exception) -> str:
    """What went wrong, as words in a sentence: without an error's number, its class or its arguments."""
    if isinstance(error, OSError):
        return str(error.strerror or error)
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON, from line {error.lineno}, column {error.colno} on"
    if isinstance(error, KeyError):
        return f"it has no {error}"
    if isinstance(error, (TypeError, AttributeError)):
        return "its values are not of the types that belong there"
    return first_line(error).removesuffix(".")
