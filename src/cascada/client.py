"""A client of `cascada serve`, in two forms: `Client`, and `AsyncClient` to await. Rankings are the ranker's own.

>>> with Client("http://127.0.0.1:8080") as client:
...     ranking = client.rank("who wrote hamlet?", sentences, top=5)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

from cascada.core.errors import CascadaError, require
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.result import Document, Item, Ranking, StageCost

if TYPE_CHECKING:
    import httpx


class ServerError(CascadaError):
    """The server said no, or nothing. `status` is its HTTP status, `retry_after` the seconds to wait if it is busy."""

    def __init__(self, message: str, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Client:
    """A server at `url`, with the `key` that it asks for, if it does. No answer within `timeout` seconds is an error.

    Connections are kept; safe to use from many threads.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        self._http: httpx.Client = _opened(_httpx().Client, url, key, timeout)

    def rank(
        self,
        question: str,
        candidates: Sequence[Document],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        deadline_ms: float | None = None,
    ) -> Ranking:
        """`Ranker.rank`, on the server."""
        body = _body(question=question, candidates=list(candidates), top=top, drop=drop, keep=keep, ms=deadline_ms)
        return _ranking(question, candidates, self._post("/v1/rank", body))

    def ask(self, question: str, *, top: int = 3, **more: Any) -> dict[str, Any]:
        """Answers from the server's index: what `cascada ask --json` prints."""
        return self._post("/v1/ask", {"question": question, "top": top, **more})

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return _content(self._http.post(path, **_sent(body)), path)
        except (_httpx().HTTPError, _httpx().InvalidURL) as error:
            raise _unreachable(error) from error


class AsyncClient:
    """The same, to await. Who stops waiting hangs up, and the server computes no further."""

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        self._http: httpx.AsyncClient = _opened(_httpx().AsyncClient, url, key, timeout)

    async def rank(
        self,
        question: str,
        candidates: Sequence[Document],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        deadline_ms: float | None = None,
    ) -> Ranking:
        """`Ranker.rank`, on the server."""
        body = _body(question=question, candidates=list(candidates), top=top, drop=drop, keep=keep, ms=deadline_ms)
        return _ranking(question, candidates, await self._post("/v1/rank", body))

    async def ask(self, question: str, *, top: int = 3, **more: Any) -> dict[str, Any]:
        """Answers from the server's index: what `cascada ask --json` prints."""
        return await self._post("/v1/ask", {"question": question, "top": top, **more})

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return _content(await self._http.post(path, **_sent(body)), path)
        except (_httpx().HTTPError, _httpx().InvalidURL) as error:
            raise _unreachable(error) from error


def _httpx() -> Any:
    return require("httpx", "client", "the client")


def _opened(kind: Any, url: str, key: str | None, timeout: float) -> Any:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        return kind(base_url=url, timeout=timeout, headers=headers)
    except _httpx().InvalidURL as error:
        raise ServerError(f"{url} is no address of a server: {error}.") from error


def _body(*, ms: float | None, **asked: Any) -> dict[str, Any]:
    return {name: value for name, value in (asked | {"deadline_ms": ms}).items() if value is not None}


def _sent(body: dict[str, Any]) -> dict[str, Any]:
    """What a request is made of. A drop ratio may be a Decimal, which JSON does not know."""
    return {"content": json.dumps(body, default=float), "headers": {"Content-Type": "application/json"}}


_HOLDS = {"/v1/rank": "items", "/v1/ask": "answers"}
"""What the answers of our server's paths have at least."""


def _content(response: httpx.Response, path: str) -> dict[str, Any]:
    if response.is_success:
        return _checked(response, _HOLDS[path])
    try:
        message = str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):  # not from our server, but from something in front of it
        message = f"The server answered {response.status_code}."
    wait = response.headers.get("retry-after", "")
    raise ServerError(message, response.status_code, float(wait) if wait.isdecimal() else None)


def _checked(response: httpx.Response, holds: str) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        found = None
    if isinstance(found, dict) and holds in found:
        return found
    raise ServerError(f"What answers at {response.url} is not a Cascada server.", response.status_code)


def _unreachable(error: Exception) -> ServerError:
    return ServerError(f"The server could not be reached: {type(error).__name__} {error}".strip() + ".")


def _ranking(question: str, candidates: Sequence[Document], found: dict[str, Any]) -> Ranking:
    """A newer server may say more than this client knows."""
    try:
        return Ranking(
            question=question,
            items=tuple(_item(one, candidates[one["index"]]) for one in found["items"]),
            relative_cost=found["relative_cost"],
            stages=tuple(StageCost(**_known(StageCost, stage)) for stage in found["stages"]),
            full_flops=found["full_flops"],
            complete=found["complete"],
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ServerError(f"The server's answer is no ranking: {type(error).__name__} {error}.") from error


def _item(found: dict[str, Any], document: Document) -> Item:
    return Item(**_known(Item, found) | {"scores": tuple(found["scores"]), "document": document})


def _known(kind: type, found: dict[str, Any]) -> dict[str, Any]:
    return {one.name: found[one.name] for one in fields(kind) if one.name in found}
