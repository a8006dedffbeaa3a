"""`cascada serve [MODEL]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascada.cli.options import Drop, Keep, Store, ratios, whole_numbers
from cascada.core.errors import require

if TYPE_CHECKING:
    from fastapi import FastAPI

    from cascada.ranking import Ranker
    from cascada.search import Asker
    from cascada.serve import Settings


def serve(
    model: Annotated[
        str | None, typer.Argument(help="A ranker's folder, bm25, cosine:FOLDER, or two of them as A+B.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 is every one.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any free one; the log tells which.")] = 8080,
    index: Annotated[
        Path | None, typer.Option(help="An index that `cascada index` made; /v1/ask answers from it.")
    ] = None,
    language: Annotated[str, typer.Option(help="The index's language, two letters: how sentences end.")] = "en",
    store: Store = None,
    drop: Drop = None,
    keep: Keep = None,
    deadline_ms: Annotated[float | None, typer.Option(help="For requests that name no deadline.")] = None,
    keys: Annotated[Path | None, typer.Option(help="A file of API keys, one a line. Also: CASCADA_API_KEY.")] = None,
    cors: Annotated[list[str] | None, typer.Option(help="An origin whose pages may call; again for more.")] = None,
    queue: Annotated[int, typer.Option(min=1, help="Requests inside at once; more are answered 429.")] = 64,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Compute requests together up to so many.")] = 16_384,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request.")] = 8_000_000,
    max_documents: Annotated[int, typer.Option(min=1, help="Documents of a request.")] = 1000,
    max_document: Annotated[int, typer.Option(min=1, help="Characters of a document.")] = 20_000,
    max_question: Annotated[int, typer.Option(min=1, help="Characters of a question.")] = 2000,
) -> None:
    """Serve rankings over HTTP, as Cohere, Jina and Text Embeddings Inference do, and in our own way."""
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, "serve", "serving")
    from cascada.serve import Settings
    from cascada.serve.keys import read_keys
    from cascada.serve.run import run

    settings = Settings(
        max_body=max_body,
        max_documents=max_documents,
        max_document=max_document,
        max_question=max_question,
        queue=queue,
        batch_tokens=batch_tokens,
        deadline_ms=deadline_ms,
        keys=read_keys(keys),
        cors=tuple(cors or ()),
        model=shown_name(model),
    )
    app = app_of(model, settings, store=store, drop=drop, keep=keep, index=index, language=language)
    run(app, host=host, port=port, keys=bool(settings.keys.digests))


def app_of(
    model: str | None,
    settings: Settings,
    *,
    store: Path | None = None,
    drop: str | None = None,
    keep: str | None = None,
    index: Path | None = None,
    language: str = "en",
) -> FastAPI:
    """The application that the options describe."""
    from cascada.serve import create_app

    ranker = _ranker(model, store, drop, keep)
    return create_app(ranker, settings, asker=None if index is None else _asker(ranker, index, language))


def _ranker(model: str | None, store: Path | None, drop: str | None, keep: str | None) -> Ranker:
    """With the plan that holds for requests that name none."""
    from cascada.ranking import Ranker
    from cascada.ranking.plan import plan_of

    ranker = Ranker.load(model, store=store)
    plan = plan_of(ratios(drop), whole_numbers(keep, "--keep"), len(ranker.stages), otherwise=ranker.plan)
    return ranker.with_plan(plan)


def _asker(ranker: Ranker, index: Path, language: str) -> Asker:
    from cascada.search import Asker, retriever_of

    return Asker(retriever_of([], index=index), ranker, language=language)


def shown_name(model: str | None) -> str:
    """What answers carry: clients need not know where the folders are."""
    from cascada.systems.load import BUNDLED, names_in

    return "+".join(Path(part).name for part in names_in(model or BUNDLED))
