"""The application: routes, error handlers, and what happens at startup and shutdown."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import PlainTextResponse, Response
from fastapi.security import HTTPBearer

import cascada
from cascada.ranking import Ranker
from cascada.serve.dialects import DIALECTS
from cascada.serve.logs import LOG, RequestLog, log_event
from cascada.serve.page import add_page
from cascada.serve.responses import HANDLERS, ApiError, json_response
from cascada.serve.service import Service, SupportsAnswer
from cascada.serve.settings import ServerSettings

WARM_UP = ("who wrote hamlet?", [" ".join(["hamlet"] * (1 + number % 40)) for number in range(80)])
"""Candidates of many lengths: engines prepare for each size the first time they see it."""

_OPTIONS: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": None, "redirect_slashes": False}
"""No documentation pages, which load scripts from other servers; no routes but our own, and one path for each."""

_OPTIONS["telemetry"] = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False}
"""FastAPI's own spans and logs hold paths, query strings and messages of errors, which are what users wrote."""


def create_app(
    ranker: Ranker, settings: ServerSettings | None = None, *, asker: SupportsAnswer | None = None
) -> FastAPI:
    """Make the application for uvicorn or any other ASGI server. Run one process of it: each has its own queue.

    `asker` answers `/v1/ask`; without one, the path returns 404.
    """
    service = Service(ranker, settings or ServerSettings(), asker)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(service.batcher.run()), asyncio.create_task(_warm_up(service))]
        yield
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        service.batcher.close()

    app = FastAPI(title="cascada", version=cascada.__version__, lifespan=lifespan, **_OPTIONS)
    _add_routes(app, service)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    if service.settings.cors:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(service.settings.cors), allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(RequestLog, metrics=service.metrics)
    return app


async def _warm_up(service: Service) -> None:
    question, candidates = WARM_UP
    try:
        await service.batcher.call(lambda: service.ranker.rank(question, candidates, drop=0))
    except asyncio.CancelledError:
        raise
    except BaseException:  # whatever an engine may raise: the server stays up, logs why, and is never ready
        LOG.exception("the model does not work: warming up failed")
        return
    service.ready = True
    log_event("ready", model=service.settings.model)


def _add_routes(app: FastAPI, service: Service) -> None:
    bearer = HTTPBearer(auto_error=False)  # only for the OpenAPI description

    def authorize(request: Request, _: Annotated[object, Depends(bearer)]) -> None:
        if not service.settings.keys.accept(request.headers.get("authorization")):
            challenge = {"WWW-Authenticate": "Bearer"}
            raise ApiError("unauthorized", "The key is missing or wrong: Authorization: Bearer KEY.", challenge)

    router = APIRouter(dependencies=[Depends(authorize), Depends(service.admit)])
    for dialect in DIALECTS:
        dialect.add_routes(service, router)
    app.include_router(router)
    _add_status_routes(app, service)
    add_page(app)

    @app.get("/metrics", dependencies=[Depends(authorize)], response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Metrics for Prometheus."""
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_status_routes(app: FastAPI, service: Service) -> None:
    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        """What the API takes and returns."""
        return json_response(app.openapi())

    @app.get("/health")
    async def health() -> Response:
        """The server is alive."""
        return json_response({"status": "alive"})

    @app.get("/ready", responses={503: {"description": "The model is not warmed up yet"}})
    async def ready() -> Response:
        """The model is loaded and has ranked something."""
        if service.ready:
            about = {"exits": list(service.ranker.exits), "asks": service.asker is not None}
            return json_response({"status": "ready", "model": service.settings.model, **about})
        return json_response({"status": "warming up"}, status=503)
