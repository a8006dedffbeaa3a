"""`cascada train RECIPE`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.options import AsJson
from cascada.core.errors import CascadaError


def train(
    recipe: Annotated[Path, typer.Argument(help="A YAML recipe; see recipes/.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: --set training.epochs=2 (may be repeated).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train a ranker or a reader from a recipe. If interrupted, the same command resumes the run."""
    from cascada import api

    for result in api.train(recipe, changes(set_ or [])):
        print(json.dumps(result.to_dict()) if as_json else result)


def changes(options: list[str]) -> dict[str, str]:
    """Parse `key=value` options."""
    values = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise CascadaError(f"--set {option}: expected key=value, such as training.epochs=2.")
        values[key] = value
    return values
