"""Request bodies: parsing JSON, checking its shape, and the parameters that every dialect accepts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from math import isfinite
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from cascada.serve.responses import ApiError
from cascada.serve.settings import ServerSettings

Number = Annotated[float, Field(allow_inf_nan=False)]
Top = Annotated[int | None, Field(ge=1, description="Return only this many results, the best ones.")]

MAX_DEPTH = 32
"""Levels of nested lists and objects. Deeper ones could be parsed, but not written again."""


class PlanParameters(BaseModel):
    """How much of a ranking is computed."""

    model_config = ConfigDict(strict=True)

    drop: Number | list[Number] | Literal["fit"] | None = Field(
        None,
        description="Share of the surviving candidates to drop at each exit: one number, or one for each exit but the "
        'last; or "fit", to drop as few as the deadline allows.',
    )
    keep: list[int] | None = Field(
        None, description="Instead of drop: how many candidates survive each exit but the last."
    )
    deadline_ms: Number | None = Field(
        None, gt=0, description="After this many milliseconds, respond with the best complete order so far."
    )


class RankParameters(PlanParameters):
    """How a ranking is computed and which results it returns. Every dialect accepts these; only ours defines them."""

    min_score: Number | None = Field(None, ge=0, le=1, description="Return only results whose score is at least this.")
    cut: Literal["gap"] | None = Field(None, description="Return only the results before the widest gap in the scores.")
    long: Literal["best", "first", "error"] | None = Field(
        None, description="Texts longer than the model reads: count their best window, cut them, or reject them."
    )
    max_tokens: int | None = Field(None, ge=1, description="Read only this many tokens of each text.")
    prior: bool | Number | None = Field(
        None,
        description='Blend in the first stage: true, or its weight. By the scores under "prior", else the order.',
    )
    skip_if_sure: Number | None = Field(
        None, ge=0, description="Keep the first stage's order if its best score is this many deviations ahead."
    )


Model = TypeVar("Model", bound=BaseModel)


def json_body(model: type[Model], settings: ServerSettings) -> Callable[[Request], Awaitable[Model]]:
    """A FastAPI dependency that parses the request's JSON as `model`."""

    async def read(request: Request) -> Model:
        value = parse_json(await _read_body(request, settings))
        try:
            return model.model_validate(value)
        except ValidationError as error:
            raise ApiError("invalid", _sentence(error.errors(include_url=False, include_context=False)[0])) from None

    return read


async def _read_body(request: Request, settings: ServerSettings) -> bytes:
    """Read the body, up to the limits. It must be declared as JSON: a page from another origin can make a browser send
    any other type without asking this server for permission (CORS).
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        sent = content_type or "of no type"
        raise ApiError("unsupported", f"The body is {sent}; send JSON, Content-Type: application/json.")
    if _declared_length(request) > settings.max_body:
        raise _body_too_large(settings)
    body = bytearray()
    try:
        async with asyncio.timeout(settings.read_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > settings.max_body:
                    raise _body_too_large(settings)
    except TimeoutError:
        raise ApiError("too_slow", f"The body took longer than {settings.read_seconds:g} seconds to arrive.") from None
    return bytes(body)


def _declared_length(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdecimal() and len(length) < 20 else 0


def _body_too_large(settings: ServerSettings) -> ApiError:
    return ApiError("too_large", f"The body is larger than {settings.max_body:,} bytes, the limit.")


def parse_json(body: bytes) -> Any:
    """Parse a body, accepting only what can be written as JSON again."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_reject_number, parse_float=_finite)
        if _is_deeper_than(value, MAX_DEPTH):
            raise RecursionError
    except UnicodeDecodeError as error:
        raise ApiError("malformed", f"The body is not UTF-8 (byte {error.start + 1}).") from None
    except RecursionError:
        raise ApiError("malformed", f"The body has more than {MAX_DEPTH} levels of lists and objects.") from None
    except ValueError as error:
        raise ApiError("malformed", f"The body is not JSON: {error}.") from None
    return value


def _is_deeper_than(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    children = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper_than(child, levels - 1) for child in children)


def _reject_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if isfinite(number) else _reject_number(digits)


def _sentence(problem: ErrorDetails) -> str:
    """`documents.3: Input should be a valid string`, without what the user sent."""
    where = ".".join(str(part) for part in problem["loc"] if not str(part).startswith(("function-", "constrained")))
    return f"{where or 'The body'}: {problem['msg']}."
