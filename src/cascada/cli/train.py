"""`cascada train RECIPE`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.options import AsJson
from cascada.core.errors import CascadaError, require


def train(
    recipe: Annotated[Path, typer.Argument(help="A YAML recipe; see recipes/.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: --set training.epochs=2 (may be repeated).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train a ranker or a reader from a recipe; the same command again goes on where it was stopped."""
    for module in ("pydantic", "yaml"):
        require(module, "train", "training")
    from cascada.training.recipes import read_recipe

    settings = read_recipe(recipe, changes(set_ or []))
    for module in ("torch", "transformers", "accelerate", "pytrec_eval", "matplotlib"):
        require(module, "train", "training")
    from cascada.training.run_folder import first_process
    from cascada.training.start import start

    outcomes = start(settings)
    if first_process():
        for outcome in outcomes:
            print(json.dumps(outcome.as_dict()) if as_json else outcome)


def changes(options: list[str]) -> dict[str, str]:
    """`key=value` options as a mapping."""
    found = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise CascadaError(f"--set {option}: expected key=value, such as training.epochs=2.")
        found[key] = value
    return found
