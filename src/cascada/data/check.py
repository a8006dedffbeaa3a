"""Checks that turn a field of unknown form into the value it should be, or into an error that names its place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from cascada.core.errors import DataError
from cascada.data.lines import Line, Source, lines


class Place(Protocol):
    """A place in the data, which its errors name."""

    def error(self, problem: str) -> DataError: ...


class Entry(NamedTuple):
    """A place in data that is not read line by line: `dev.json, question 12`."""

    path: Source
    name: str

    def error(self, problem: str) -> DataError:
        return DataError(f"{self.path}, {self.name}: {problem}")


def shorten(value: object, width: int = 60) -> str:
    """The value's `repr`, cut to a width that fits into a message."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def columns(line: Line, names: str) -> list[str]:
    """The line's tab-separated fields, as many as `names`. There is no quoting: `"` is an ordinary character."""
    fields = line.text.split("\t")
    expected = names.count(",") + 1
    if len(fields) != expected:
        raise line.error(
            f"expected {expected} tab-separated columns ({names}), found {len(fields)}: {shorten(line.text)}"
        )
    return fields


def question(value: object, where: Place) -> str:
    """Text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise where.error(f"expected the text of a question, found {shorten(value)}")
    return require_encodable(value, where)


def label(value: object, where: Place) -> int:
    """0 or 1, as a number or as a string."""
    number = {"0": 0, "1": 1}.get(value) if isinstance(value, str) else value
    if isinstance(number, (int, float)) and number in (0, 1):
        return int(number)
    raise where.error(f"expected label 0 or 1, found {shorten(value)}")


def graded_label(value: object, where: Place) -> tuple[int, int | None]:
    """Label and relevance from one column that holds 0 and 1, or a relevance up to 3: 2 is correct with relevance 2."""
    number = {"2": 2, "3": 3}.get(value) if isinstance(value, str) else value
    if isinstance(number, (int, float)) and number in (2, 3):
        return 1, int(number)
    try:
        return label(value, where), None
    except DataError:
        raise where.error(f"expected label 0 or 1, found {shorten(value)} (a graded relevance is 0 to 3)") from None


def whole_number(value: object, what: str, where: Place) -> int | None:
    """A whole number, or None; an error calls it `what`."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise where.error(f"expected a whole number as {what}, found {shorten(value)}")


def number(value: object, what: str, where: Place) -> float | None:
    """A finite number, or None; an error calls it `what`."""
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise where.error(f"expected a number as {what}, found {shorten(value)}")


def text_field(record: Mapping[str, Any], keys: tuple[str, ...], where: Place) -> str:
    """The text under the first of `keys` that the record has. It may be empty: some data has empty sentences."""
    for key in keys:
        if key in record:
            if isinstance(record[key], str):
                return require_encodable(record[key], where)
            raise where.error(f'expected text under "{key}", found {shorten(record[key])}')
    names = " or ".join(f'"{key}"' for key in keys)
    raise where.error(f"expected {names}, found only {shorten(sorted(map(str, record)))}")


def identifier(value: object, where: Place) -> str | None:
    """An id: text, or a whole number as text; None stays None."""
    if value is None or isinstance(value, str):
        return value if value is None else require_encodable(value, where)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise where.error(f"expected an id (text or a whole number), found {shorten(value)}")


def list_of(value: object, what: str, where: Place) -> list[Any]:
    """A list; an error calls its items `what`."""
    if not isinstance(value, list):
        raise where.error(f"expected a list of {what}, found {shorten(value)}")
    return value


def json_object(value: object, what: str, where: Place) -> dict[str, Any]:
    """A JSON object; an error calls it `what`."""
    if not isinstance(value, dict):
        raise where.error(f"expected {what} as a JSON object, found {shorten(value)}")
    return value


def json_line(line: Line) -> dict[str, Any]:
    """The JSON object on a line."""
    try:
        return json_object(json.loads(line.text), "a record", line)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise line.error(f"expected one JSON object per line, found {shorten(line.text)} ({error})") from error


def json_file(path: Source) -> Any:
    """A whole JSON document. A syntax error names its line."""
    text = "\n".join(line.text for line in lines(path))
    if not text.strip():
        raise DataError(f"{path} is empty: expected a JSON document")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError.at(path, error.lineno, f"not valid JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not usable JSON: {error}") from error


def require_encodable(text: str, where: Place) -> str:
    r"""Reject half of a surrogate pair (`"\ud800"`): JSON can spell it, but no UTF-8 file can hold it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise where.error(f"{shorten(text)} holds half of a surrogate pair, which is not text") from error
    return text
