"""`cascada serve [MODEL]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import Drop, Keep, Store, ratios, whole_numbers
from cascada.core.errors import require

if TYPE_CHECKING:
    from fastapi import FastAPI

    from cascada.serve import ServerSettings


def serve(
    model: Annotated[
        str | None, typer.Argument(help="A ranker's folder, bm25, cosine:FOLDER, late:FOLDER, or two of them as A+B.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all interfaces.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 for any free one, which the log shows.")
    ] = 8080,
    index: Annotated[Path | None, typer.Option(help="An index made by `cascada index`, for /v1/ask.")] = None,
    language: Annotated[
        str, typer.Option(help="The index's language, a two-letter code, for splitting sentences.")
    ] = "en",
    store: Store = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="A folder to cache scores in, so that none is computed twice; created if necessary."),
    ] = None,
    cache_mb: Annotated[float, typer.Option(help="Largest size of the cache in megabytes; the oldest go first.")] = 256,
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[float | None, typer.Option(help="The deadline of requests that give none.")] = None,
    keys: Annotated[Path | None, typer.Option(help="A file of API keys, one per line. Also: CASCADA_API_KEY.")] = None,
    cors: Annotated[
        list[str] | None, typer.Option(help="An origin whose pages may call the API; may be repeated.")
    ] = None,
    queue: Annotated[int, typer.Option(min=1, help="Requests handled at once; further ones get status 429.")] = 64,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Batch requests up to this many tokens.")] = 16_384,
    max_body: Annotated[int, typer.Option(min=1, help="Largest request body, in bytes.")] = 8_000_000,
    max_documents: Annotated[int, typer.Option(min=1, help="Most documents in a request.")] = 1000,
    max_document: Annotated[int, typer.Option(min=1, help="Longest document, in characters.")] = 20_000,
    max_question: Annotated[int, typer.Option(min=1, help="Longest question, in characters.")] = 2000,
    shutdown_seconds: Annotated[
        float, typer.Option(help="After SIGTERM, take at most this long to finish accepted requests.")
    ] = 30.0,
) -> None:
    """Serve rankings over HTTP, with the APIs of Cohere, Jina and Text Embeddings Inference and our own."""
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, "serve", "serving")
    from cascada.serve import ServerSettings
    from cascada.serve.keys import read_keys
    from cascada.serve.run import run
    from cascada.systems.load import shown_name

    settings = ServerSettings(
        max_body=max_body,
        max_documents=max_documents,
        max_document=max_document,
        max_question=max_question,
        queue=queue,
        batch_tokens=batch_tokens,
        deadline_ms=deadline_ms,
        keys=read_keys(keys),
        cors=tuple(cors or ()),
        shutdown_seconds=shutdown_seconds,
        model=shown_name(model),
    )
    folders = {"store": store, "cache": cache, "index": index}
    app = app_of(model, settings, **folders, cache_mb=cache_mb, drop=drop, keep=keep, language=language)
    has_keys = bool(settings.keys.digests)
    run(app, host=host, port=port, has_keys=has_keys, shutdown_seconds=settings.shutdown_seconds)


def app_of(
    model: str | None,
    settings: ServerSettings,
    *,
    store: Path | None = None,
    cache: Path | None = None,
    cache_mb: float = 256,
    drop: str | None = None,
    keep: str | None = None,
    index: Path | None = None,
    language: str = "en",
) -> FastAPI:
    """The application with these options; `drop` and `keep` are the plan of requests that give neither."""
    from cascada.ranking import Ranker
    from cascada.ranking.plan import plan_of
    from cascada.search import asker_of
    from cascada.serve import create_app

    loaded = Ranker.load(model, store=store, cache=cache, cache_mb=cache_mb)
    plan = plan_of(ratios(drop), whole_numbers(keep, "--keep"), len(loaded.stages), otherwise=loaded.plan)
    ranker = loaded.with_plan(plan)
    asker = asker_of(index=index, ranker=ranker, language=language) if index else None
    return create_app(ranker, settings, asker=asker)
