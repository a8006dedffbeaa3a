"""The server on Ray Serve: replicas of the same application, as many as the requests need."""

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
    """How many copies of the server there are, each with its own queue."""

    least: int = 1
    most: int = 1
    requests: float = 8
    """Inside one replica, on average, that more or fewer replicas are aimed at."""
    cpus: float = 1
    """Cores of one replica."""

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise CascadaError(
                f"There cannot be from {self.least} to {self.most} replicas: name 1 or more, then as many."
            )
        if not self.requests > 0:
            raise CascadaError(f"Requests for each replica are {self.requests}; it must be a number above 0.")

    def options(self) -> dict[str, Any]:
        """As a Ray Serve deployment has them."""
        if self.least == self.most:
            return {"num_replicas": self.most}
        scaling = {
            "min_replicas": self.least,
            "max_replicas": self.most,
            "target_ongoing_requests": self.requests,
        }
        return {"autoscaling_config": scaling}


def application(build: Callable[[], FastAPI], replicas: Replicas, *, queue: int = 64) -> serve.Application:
    """What Ray Serve runs. `build` makes the application, in each replica anew; `queue` is its `Settings.queue`."""

    def built() -> FastAPI:  # Ray takes a function, and no other callable
        import os

        os.environ["CASCADA_THREADS"] = str(max(1, int(replicas.cpus)))
        return build()

    # Ray hands a replica more than its queue holds, so that the replica itself refuses, in the client's dialect.
    deployment = serve.deployment(
        serve.ingress(built)(),
        name=NAME,
        max_ongoing_requests=2 * queue,
        ray_actor_options={"num_cpus": replicas.cpus},
        **replicas.options(),
    )
    return deployment.bind()


@contextmanager
def running(app: serve.Application, *, host: str, port: int, everywhere: bool = True) -> Iterator[None]:
    """Serve on every machine of the cluster that has a replica, or on the first one only; it ends with the block."""
    serve.start(proxy_location="EveryNode" if everywhere else "HeadOnly", http_options={"host": host, "port": port})
    try:
        try:
            serve.run(app, name=NAME)
        except RuntimeError as error:  # Ray's, for a copy that did not start
            raise CascadaError(f"The server did not start: {first_line(error)}") from error
        yield
    finally:
        serve.shutdown()
