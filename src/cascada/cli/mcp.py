"""`cascada mcp [PATH…]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cascada.cli.index import complain, note, watched
from cascada.cli.options import Documents, KeptIndex, Language, Model
from cascada.core.errors import require


def mcp(
    paths: Documents = None,
    index: KeptIndex = None,
    model: Model = None,
    reader: Annotated[
        Path | None, typer.Option(help="A reader's folder: also return the short answer in each sentence.")
    ] = None,
    language: Language = "en",
) -> None:
    """Offer `rank`, and `ask` over documents, as tools to agents: an MCP server over standard input and output."""
    require("mcp.server", "mcp", "serving agents")
    from cascada.integrations.mcp import serve
    from cascada.ranking import Ranker
    from cascada.search import asker_of

    if not paths and index is None:
        serve(Ranker.load(model))
        return
    asker = asker_of(
        paths or [],
        index=index,
        ranker=model,
        reader=reader,
        language=language,
        report=complain,
        watch=watched,
        note=note,
    )
    serve(asker)
