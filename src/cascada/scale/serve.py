"""The server on Ray Serve: replicas of the same application, scaled with the number of requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from ray import serve

from cascada.core.errors import CascadaError, first_line

NAME = "cascada"


@dataclass(frozen=True)
class Replicas:
    """How many replicas of the server run, each with its own queue."""

    least: int = 1
    most: int = 1
    requests: float = 8
    """Requests in progress per replica, on average, that scaling aims at."""
    cpus: float = 1
    """Cores per replica."""

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise CascadaError(
                f"There cannot be {self.least} to {self.most} replicas: the minimum is 1, and the maximum not below it."
            )
        if not self.requests > 0:
            raise CascadaError(f"The number of requests per replica is {self.requests}; it must be above 0.")

    def options(self) -> dict[str, Any]:
        """The options of a Ray Serve deployment."""
        if self.least == self.most:
            return {"num_replicas": self.most}
        scaling = {
            "min_replicas": self.least,
            "max_replicas": self.most,
            "target_ongoing_requests": self.requests,
        }
        return {"autoscaling_config": scaling}


def application(build: Callable[[], FastAPI], replicas: Replicas, *, queue: int = 64) -> serve.Application:
    """The application for Ray Serve. `build` is called in each replica; `queue` is its `ServerSettings.queue`."""

    def built() -> FastAPI:  # Ray accepts functions only, no other callables
        import os

        os.environ["CASCADA_THREADS"] = str(max(1, int(replicas.cpus)))
        return build()

    # Ray passes a replica more requests than its queue holds, so that the replica itself rejects them, in the format
    # of the API that the client uses.
    deployment = serve.deployment(
        serve.ingress(built)(),
        name=NAME,
        max_ongoing_requests=2 * queue,
        ray_actor_options={"num_cpus": replicas.cpus},
        **replicas.options(),
    )
    return deployment.bind()


@contextmanager
def running(app: serve.Application, *, host: str, port: int, every_node: bool = True) -> Iterator[None]:
    """Serve until the end of the block: on every machine that has a replica, or on the head node only."""
    serve.start(proxy_location="EveryNode" if every_node else "HeadOnly", http_options={"host": host, "port": port})
    try:
        try:
            serve.run(app, name=NAME)
        except RuntimeError as error:  # a replica did not start
            raise CascadaError(f"The server did not start: {first_line(error)}") from error
        yield
    finally:
        serve.shutdown()
