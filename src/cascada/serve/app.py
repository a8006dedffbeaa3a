"""The application: routes, refusals, and what happens at the start and the end."""

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
from cascada.serve.dialects import ALL
from cascada.serve.logs import LOG, Told, tell
from cascada.serve.page import add_page
from cascada.serve.responses import HANDLERS, Refusal, answer
from cascada.serve.service import Asks, Service
from cascada.serve.settings import Settings

WARM_UP = ("who wrote hamlet?", [" ".join(["hamlet"] * (1 + number % 40)) for number in range(80)])
"""Candidates of many lengths, as engines prepare for each size when they first meet it."""


_PLAIN: dict[str, Any] = {"docs_url": None, "redoc_url": None, "redirect_slashes": False}
"""No pages that fetch scripts from elsewhere, and one path for each thing."""


def create_app(ranker: Ranker, settings: Settings | None = None, *, asker: Asks | None = None) -> FastAPI:
    """A server's application, for uvicorn or any other ASGI server (one process each: the queue is its own)."""
    service = Service(ranker, settings or Settings(), asker)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(service.batcher.run()), asyncio.create_task(_warm_up(service))]
        yield
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        service.batcher.close()

    app = FastAPI(title="cascada", version=cascada.__version__, lifespan=life, **_PLAIN)
    _add_routes(app, service)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    if service.settings.cors:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(service.settings.cors), allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(Told, metrics=service.metrics)
    return app


async def _warm_up(service: Service) -> None:
    question, candidates = WARM_UP
    try:
        await service.batcher.call(lambda: service.ranker.rank(question, candidates, drop=0))
    except asyncio.CancelledError:
        raise
    except BaseException:  # whatever an engine may raise: the server stays up, says why, and is never ready
        LOG.exception("the model does not work: warming up failed")
        return
    service.ready = True
    tell("ready", model=service.settings.model)


def _add_routes(app: FastAPI, service: Service) -> None:
    bearer = HTTPBearer(auto_error=False)  # for the description alone

    def let_in(request: Request, _: Annotated[object, Depends(bearer)]) -> None:
        if not service.settings.keys.open_with(request.headers.get("authorization")):
            raise Refusal("unauthorized", "The key is missing or wrong: Authorization: Bearer KEY.", _WANTED)

    router = APIRouter(dependencies=[Depends(let_in), Depends(service.place)])
    for dialect in ALL:
        dialect.routes(service, router)
    app.include_router(router)
    _add_plain_routes(app, service)
    add_page(app)

    @app.get("/metrics", dependencies=[Depends(let_in)], response_class=PlainTextResponse)
    async def metrics() -> Response:
        """For Prometheus."""
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


_WANTED = {"WWW-Authenticate": "Bearer"}


def _add_plain_routes(app: FastAPI, service: Service) -> None:
    @app.get("/health")
    async def health() -> Response:
        """Alive."""
        return answer({"status": "alive"})

    @app.get("/ready", responses={503: {"description": "The model is not warmed up yet"}})
    async def ready() -> Response:
        """The model is loaded and has ranked something."""
        if service.ready:
            about = {"exits": list(service.ranker.exits), "asks": service.asker is not None}
            return answer({"status": "ready", "model": service.settings.model, **about})
        return answer({"status": "warming up"}, status=503)
