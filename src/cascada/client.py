"""A client of `cascada serve`: `Client`, and `AsyncClient` for asyncio. Both return what a local ranker would.

>>> with Client("http://127.0.0.1:8080") as client:
...     ranking = client.rank("who wrote hamlet?", sentences, top=5)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, Unpack

from cascada.core.errors import CascadaError, require
from cascada.ranking.inputs import RankArguments
from cascada.ranking.prune import PruneArguments
from cascada.ranking.pruned import Pruned, PrunedPassage, PrunedSentence
from cascada.ranking.result import Item, Ranking, StageCost, TextOrMapping

if TYPE_CHECKING:
    import httpx

    from cascada.search import Answer, Answers


class ServerError(CascadaError):
    """An error response, or none at all.

    `status` is the HTTP status, `retry_after` the seconds to wait if the server is busy, and `request_id` the id under
    which the server's log has the request.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.request_id = request_id


class Client:
    """A client of the server at `url`. `key` is the API key, if the server requires one; a response that takes longer
    than `timeout` seconds raises a `ServerError`.

    Keeps connections open; safe to use from many threads.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        self._http: httpx.Client = _new_client(_httpx().Client, url, key, timeout)

    def rank(self, question: str, candidates: Sequence[TextOrMapping], **arguments: Unpack[RankArguments]) -> Ranking:
        """`Ranker.rank`, on the server."""
        body = _body(question=question, candidates=list(candidates), **arguments)
        return _ranking(question, candidates, self._post("/v1/rank", body))

    def prune(self, question: str, passages: Sequence[TextOrMapping], **arguments: Unpack[PruneArguments]) -> Pruned:
        """`Ranker.prune`, on the server."""
        body = _body(question=question, passages=list(passages), **arguments)
        return _pruned(question, passages, self._post("/v1/prune", body))

    def ask(
        self,
        question: str,
        *,
        paragraphs: int | None = None,
        **arguments: Unpack[RankArguments],
    ) -> Answers:
        """`Asker.ask`, on the server, from the index it was started with."""
        body = _body(question=question, paragraphs=paragraphs, **arguments)
        return _answers(self._post("/v1/ask", body))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return _content(self._http.post(path, **_request(body)), path)
        except (_httpx().HTTPError, _httpx().InvalidURL) as error:
            raise _unreachable(error) from error


class AsyncClient:
    """`Client` for asyncio. Cancelling a call closes its connection, and the server stops computing it."""

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        self._http: httpx.AsyncClient = _new_client(_httpx().AsyncClient, url, key, timeout)

    async def rank(
        self, question: str, candidates: Sequence[TextOrMapping], **arguments: Unpack[RankArguments]
    ) -> Ranking:
        """`Ranker.rank`, on the server."""
        body = _body(question=question, candidates=list(candidates), **arguments)
        return _ranking(question, candidates, await self._post("/v1/rank", body))

    async def prune(
        self, question: str, passages: Sequence[TextOrMapping], **arguments: Unpack[PruneArguments]
    ) -> Pruned:
        """`Ranker.prune`, on the server."""
        body = _body(question=question, passages=list(passages), **arguments)
        return _pruned(question, passages, await self._post("/v1/prune", body))

    async def ask(
        self,
        question: str,
        *,
        paragraphs: int | None = None,
        **arguments: Unpack[RankArguments],
    ) -> Answers:
        """`Asker.ask`, on the server, from the index it was started with."""
        body = _body(question=question, paragraphs=paragraphs, **arguments)
        return _answers(await self._post("/v1/ask", body))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return _content(await self._http.post(path, **_request(body)), path)
        except (_httpx().HTTPError, _httpx().InvalidURL) as error:
            raise _unreachable(error) from error


def _httpx() -> Any:
    return require("httpx", "client", "the client")


def _new_client(kind: Any, url: str, key: str | None, timeout: float) -> Any:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        return kind(base_url=url, timeout=timeout, headers=headers)
    except _httpx().InvalidURL as error:
        raise ServerError(f"{url} is not the address of a server: {error}.") from error


def _body(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _request(body: dict[str, Any]) -> dict[str, Any]:
    """httpx's arguments for a JSON body. A drop ratio may be a Decimal, which JSON does not know."""
    return {"content": json.dumps(body, default=float), "headers": {"Content-Type": "application/json"}}


_REQUIRED_KEY = {"/v1/rank": "items", "/v1/prune": "passages", "/v1/ask": "answers"}
"""A key that every response of a Cascada server has on this path."""


def _content(response: httpx.Response, path: str) -> dict[str, Any]:
    if response.is_success:
        return _checked(response, _REQUIRED_KEY[path])
    try:
        message = str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):  # not from a Cascada server, but from a proxy in front of it
        message = f"The server answered {response.status_code}."
    wait, request_id = response.headers.get("retry-after", ""), response.headers.get("x-request-id")
    raise ServerError(message, response.status_code, float(wait) if wait.isdecimal() else None, request_id)


def _checked(response: httpx.Response, required_key: str) -> dict[str, Any]:
    try:
        content = response.json()
    except ValueError:
        content = None
    if isinstance(content, dict) and required_key in content:
        return content
    raise ServerError(f"The server at {response.url} is not a Cascada server.", response.status_code)


def _unreachable(error: Exception) -> ServerError:
    return ServerError(f"The server could not be reached: {type(error).__name__} {error}".strip() + ".")


def _ranking(question: str, candidates: Sequence[TextOrMapping], content: dict[str, Any]) -> Ranking:
    try:
        return Ranking(
            question=question,
            items=tuple(_item(item, candidates[item["index"]]) for item in content["items"]),
            relative_cost=content["relative_cost"],
            stages=tuple(StageCost(**_known(StageCost, stage)) for stage in content["stages"]),
            full_flops=content["full_flops"],
            complete=content["complete"],
            likely=content.get("likely"),
            skipped=content.get("skipped", False),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ServerError(f"The response is not a ranking: {type(error).__name__} {error}.") from error


def _item(content: dict[str, Any], document: TextOrMapping) -> Item:
    window = None if content.get("window") is None else tuple(content["window"])
    return Item(**_known(Item, content) | {"scores": tuple(content["scores"]), "document": document, "window": window})


def _pruned(question: str, passages: Sequence[TextOrMapping], content: dict[str, Any]) -> Pruned:
    try:
        own = tuple(_passage(passage, passages[passage["index"]]) for passage in content["passages"])
        return Pruned(**_known(Pruned, content) | {"question": question, "passages": own})
    except (KeyError, TypeError, IndexError) as error:
        raise ServerError(f"The response holds no pruned passages: {type(error).__name__} {error}.") from error


def _passage(content: dict[str, Any], document: TextOrMapping) -> PrunedPassage:
    sentences = tuple(PrunedSentence(**_known(PrunedSentence, sentence)) for sentence in content["sentences"])
    return PrunedPassage(content["index"], sentences, document)


def _answers(content: dict[str, Any]) -> Answers:
    from cascada.search import Answers
    from cascada.search.answers import Times

    try:
        answers = tuple(_answer(answer) for answer in content["answers"])
        seconds = Times(**_known(Times, content["seconds"])) if "seconds" in content else None
        return Answers(**_known(Answers, content) | {"answers": answers, "seconds": seconds})
    except (KeyError, TypeError) as error:
        raise ServerError(f"The response holds no answers: {type(error).__name__} {error}.") from error


def _answer(content: dict[str, Any]) -> Answer:
    from cascada.search import Answer, Passage, ShortAnswer

    passage = Passage(**_known(Passage, content["passage"]) | {"document": content["document"]})
    short = None if content.get("answer") is None else ShortAnswer(**_known(ShortAnswer, content["answer"]))
    return Answer(**_known(Answer, content) | {"passage": passage, "short": short})


def _known(kind: type, content: dict[str, Any]) -> dict[str, Any]:
    """The keys that the dataclass has; a newer server may send more."""
    return {field.name: content[field.name] for field in fields(kind) if field.name in content}
