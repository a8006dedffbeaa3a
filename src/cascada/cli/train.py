"""`cascada train RECIPE`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.options import AsJson
from cascada.errors import CascadaError, require


def train(
    recipe: Annotated[Path, typer.Argument(help="A YAML recipe; see recipes/.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: --set training.epochs=2 (may be repeated).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train a ranker from a recipe; the same command again goes on where it was stopped."""
    for module in ("pydantic", "yaml"):
        require(module, "train", "training")
    from cascada.training.settings import read_recipe

    settings = read_recipe(recipe, changes(set_ or []))
    for module in ("torch", "transformers", "accelerate", "pytrec_eval", "matplotlib"):
        require(module, "train", "training")
    from cascada.training.claim import first_process
    from cascada.training.run import train as run

    folder = run(settings)
    if not first_process():
        return
    history = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    best = max(history["dev"], key=lambda row: row["MAP"])
    if as_json:
        print(json.dumps({"model": str(folder), "best": best}))
    else:
        print(f"{settings.output}: dev MAP {best['MAP']:.4f} after epoch {best['epoch']:.3g}")


def changes(options: list[str]) -> dict[str, str]:
    """`key=value` options as a mapping."""
    found = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise CascadaError(f"--set {option}: expected key=value, such as training.epochs=2.")
        found[key] = value
    return found
