"""`cascada cut MODEL OUT --exits 6`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.options import Root
from cascada.core.errors import CascadaError


def cut(
    model: Annotated[Path, typer.Argument(help="A trained ranker's folder.")],
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    exits: Annotated[
        str, typer.Option(help="The exits to keep, separated by commas; one makes a monolithic ranker, 0 adds exit 0.")
    ],
    texts: Annotated[
        Path | None, typer.Option(help="Texts that exit 0 takes IDF from: a text per line, or JSONL.")
    ] = None,
    learn: Annotated[
        str | None,
        typer.Option(
            help="Learn exit 0's weights, starting from IDF (--texts) or those it has, on these lists: a known name "
            "(with --root), a file …"
        ),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            help="With --learn: keep them only if they do better on this data; by default, on a fifth held out."
        ),
    ] = None,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="With --learn: train, dev, test …; by default train.")] = None,
) -> None:
    """Write a ranker with fewer exits, with a single one, or with exit 0 in front."""
    try:
        kept = sorted({int(part) for part in exits.split(",")})
    except ValueError:
        raise CascadaError(f"--exits {exits}: expected layers separated by commas, such as 4,8,12.") from None
    from cascada.core.errors import require_torch

    require_torch("cutting a ranker")
    from cascada.api.arguments import load_data, read_texts
    from cascada.systems.cut import cut as write

    if check and not learn:
        raise CascadaError("--check compares learned weights with those before: say what to learn from (--learn DATA).")
    lists = load_data(learn, root, split, "clean", default_split="train")[0] if learn else None
    checked = load_data(check, root, None, "clean", default_split="dev")[0] if check else None
    compared = write(model, kept, out, texts=read_texts(texts) if texts else None, learn=lists, check=checked)
    if compared:
        print(compared)
    print(f"{out}: {'exits' if len(kept) > 1 else 'exit'} {', '.join(map(str, kept))} of {model}")
