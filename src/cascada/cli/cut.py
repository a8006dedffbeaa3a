"""`cascada cut MODEL OUT --exits 6`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cascada.core.errors import CascadaError


def cut(
    model: Annotated[Path, typer.Argument(help="A trained cascade's folder.")],
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    exits: Annotated[
        str, typer.Option(help="The exits to keep, separated by commas; one makes a monolithic ranker, 0 adds exit 0.")
    ],
    texts: Annotated[
        Path | None, typer.Option(help="Texts that exit 0 computes IDF from: documents, or a line per text.")
    ] = None,
) -> None:
    """Write a cascade with fewer exits, one of its exits as a monolithic ranker, or a ranker with exit 0 in front."""
    try:
        kept = sorted({int(part) for part in exits.split(",")})
    except ValueError:
        raise CascadaError(f"--exits {exits}: expected layers separated by commas, such as 4,8,12.") from None
    from cascada.core.errors import require_torch

    require_torch("cutting a ranker")
    from cascada.systems.cascade.folder import cut as write

    write(model, kept, out, texts=_texts(texts) if texts else None)
    print(f"{out}: {'exits' if len(kept) > 1 else 'exit'} {', '.join(map(str, kept))} of {model}")


def _texts(path: Path) -> list[str]:
    """The texts of a file: of JSONL the text of each line, of other files each line."""
    from cascada.data.lines import lines

    if path.suffixes[-1:] == [".jsonl"] or path.suffixes[-2:] == [".jsonl", ".gz"]:
        from cascada.search import read

        return [document.text for document in read(path)]
    return [line.text for line in lines(path)]
