"""Small checks that turn a field of unknown shape into the value it should be, or into a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from cascada.core.errors import DataError
from cascada.data.lines import Line, Source, lines


class Where(Protocol):
    """A place in the data that can complain about itself."""

    def error(self, problem: str) -> DataError: ...


class Entry(NamedTuple):
    """A place in a file without lines of its own: `dev.json, question 12`."""

    path: Source
    name: str

    def error(self, problem: str) -> DataError:
        return DataError(f"{self.path}, {self.name}: {problem}")


def shown(value: object, width: int = 60) -> str:
    """The value as a message can carry it."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def columns(line: Line, names: str) -> list[str]:
    """The tab-separated fields. Nothing is quoted: a `"` is an ordinary character."""
    fields = line.text.split("\t")
    expected = names.count(",") + 1
    if len(fields) != expected:
        raise line.error(
            f"expected {expected} tab-separated columns ({names}), found {len(fields)}: {shown(line.text)}"
        )
    return fields


def question(value: object, where: Where) -> str:
    """A text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise where.error(f"expected the text of a question, found {shown(value)}")
    return encodable(value, where)


def label(value: object, where: Where) -> int:
    """0 or 1, however the format spells them."""
    number = {"0": 0, "1": 1}.get(value) if isinstance(value, str) else value
    if isinstance(number, (int, float)) and number in (0, 1):
        return int(number)
    raise where.error(f"expected label 0 or 1, found {shown(value)}")


def one_of(record: Mapping[str, Any], keys: tuple[str, ...], where: Where) -> str:
    """The text under the first of `keys` that is there. It may be empty: some data has empty sentences."""
    for key in keys:
        if key in record:
            if isinstance(record[key], str):
                return encodable(record[key], where)
            raise where.error(f'expected text under "{key}", found {shown(record[key])}')
    names = " or ".join(f'"{key}"' for key in keys)
    raise where.error(f"expected {names}, found only {shown(sorted(map(str, record)))}")


def identifier(value: object, where: Where) -> str | None:
    """Text, or a whole number as text; None stays None."""
    if value is None or isinstance(value, str):
        return value if value is None else encodable(value, where)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise where.error(f"expected an id (text or a whole number), found {shown(value)}")


def items(value: object, what: str, where: Where) -> list[Any]:
    """A list, called `what` in the complaint."""
    if not isinstance(value, list):
        raise where.error(f"expected a list of {what}, found {shown(value)}")
    return value


def mapping(value: object, what: str, where: Where) -> dict[str, Any]:
    """A JSON object, called `what` in the complaint."""
    if not isinstance(value, dict):
        raise where.error(f"expected {what} as a JSON object, found {shown(value)}")
    return value


def json_line(line: Line) -> dict[str, Any]:
    """A line's JSON object."""
    try:
        return mapping(json.loads(line.text), "a record", line)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise line.error(f"expected one JSON object a line, found {shown(line.text)} ({error})") from error


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


def encodable(text: str, where: Where) -> str:
    r"""JSON can spell half of a character (`"\ud800"`), which no UTF-8 file can hold afterwards."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise where.error(f"{shown(text)} holds half of a surrogate pair, which is not text") from error
    return text
