"""What every dialect's request may hold, with one meaning."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from math import isfinite
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from cascada.serve.responses import Refusal
from cascada.serve.settings import Settings

Number = Annotated[float, Field(allow_inf_nan=False)]


Document = str | dict[str, Any]


Top = Annotated[int | None, Field(ge=1, description="Answer with the best so many.")]


class Cut(BaseModel):
    """How far to go. All dialects take these, though only ours has them on its own account."""

    model_config = ConfigDict(strict=True)

    drop: Number | list[Number] | Literal["fit"] | None = Field(
        None, description="Share of the candidates that leave at each exit: one, or one for each exit but the last."
    )
    keep: list[int] | None = Field(None, description="Instead of drop: how many stay after each exit but the last.")
    deadline_ms: Number | None = Field(
        None, gt=0, description="Answer after so many milliseconds with the best complete order there is."
    )


DEPTH = 32
"""Objects in objects: deeper ones could be read but not written again."""


Model = TypeVar("Model", bound=BaseModel)


def body_as(model: type[Model], settings: Settings) -> Callable[[Request], Awaitable[Model]]:
    """A dependency: the request's JSON as `model`."""

    async def read(request: Request) -> Model:
        value = parsed(await _bytes(request, settings))
        try:
            return model.model_validate(value)
        except ValidationError as error:
            raise Refusal("invalid", _sentence(error.errors(include_url=False, include_context=False)[0])) from None

    return read


async def _bytes(request: Request, settings: Settings) -> bytes:
    """Browsers send JSON to strangers only after asking for leave; other types they just send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal("unsupported", f"The body is {kind or 'of no type'}; send JSON, Content-Type: application/json.")
    if _announced(request) > settings.max_body:
        raise _too_large(settings)
    held = bytearray()
    try:
        async with asyncio.timeout(settings.read_seconds):
            async for part in request.stream():
                held += part
                if len(held) > settings.max_body:
                    raise _too_large(settings)
    except TimeoutError:
        raise Refusal("too_slow", f"The body took longer than {settings.read_seconds:g} seconds to arrive.") from None
    return bytes(held)


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdecimal() and len(length) < 20 else 0


def _too_large(settings: Settings) -> Refusal:
    return Refusal("too_large", f"The body is larger than {settings.max_body:,} bytes, the most that is read.")


def parsed(body: bytes) -> Any:
    """The JSON in a body: only what can be written as JSON again."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
        if _deeper(value, DEPTH):
            raise RecursionError
    except UnicodeDecodeError as error:
        raise Refusal("malformed", f"The body is not UTF-8 (byte {error.start + 1}).") from None
    except RecursionError:
        raise Refusal("malformed", f"The body has more than {DEPTH} levels of lists and objects.") from None
    except ValueError as error:
        raise Refusal("malformed", f"The body is not JSON: {error}.") from None
    return value


def _deeper(value: Any, room: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return room == 0 or any(_deeper(one, room - 1) for one in inner)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if isfinite(number) else _no_number(digits)


def _sentence(problem: ErrorDetails) -> str:
    """`documents.3: Input should be a valid string`, without what the user sent."""
    where = ".".join(str(part) for part in problem["loc"] if not str(part).startswith(("function-", "constrained")))
    return f"{where or 'The body'}: {problem['msg']}."
