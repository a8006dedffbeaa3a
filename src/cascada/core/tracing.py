"""OpenTelemetry spans with the OpenInference conventions, if the program has configured a tracer provider.

Otherwise nothing is imported and nothing is written: a span is then None. `CASCADA_TRACE_TEXTS=1` also writes questions
and texts into the spans; by default they hold numbers only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

VARIABLE = "CASCADA_TRACE_TEXTS"

Kind = Literal["RERANKER", "RETRIEVER", "CHAIN"]
"""The OpenInference span kinds that are used here."""


def tracer() -> Tracer | None:
    """Cascada's tracer; None unless a tracer provider is configured and `cascada[otel]` is installed."""
    api = sys.modules.get("opentelemetry.trace")  # whoever configures a provider has imported it
    if api is None or not _has_conventions():
        return None
    provider = api.get_tracer_provider()
    return None if isinstance(provider, api.ProxyTracerProvider) else provider.get_tracer("cascada")


def traces_texts() -> bool:
    """Whether spans hold what users wrote."""
    return os.environ.get(VARIABLE, "").lower() in ("1", "true", "yes")


@contextmanager
def span(name: str, kind: Kind) -> Iterator[Span | None]:
    """A span around a block; None if nobody records it. An error in the block is recorded by its type alone, as its
    message may quote a text."""
    active = tracer()
    if active is None:
        yield None
        return
    from openinference.semconv.trace import SpanAttributes

    with active.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as opened:
        try:
            yield opened if opened.is_recording() else None
        except Exception as error:
            mark_failed(opened, error)
            raise
        finally:
            opened.set_attribute(SpanAttributes.OPENINFERENCE_SPAN_KIND, kind)


def mark_failed(opened: Span, error: BaseException) -> None:
    """Set the span's status to an error, named by its type."""
    from opentelemetry.trace import Status, StatusCode

    opened.set_status(Status(StatusCode.ERROR, str(error) if traces_texts() else type(error).__name__))


def set_documents(opened: Span, key: str, documents: list[dict[str, Any]]) -> None:
    """Write documents under `key.N.document.…`: the first ones, as many as fit into a span's attributes.

    OpenTelemetry limits a span to 128 attributes, unless `OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT` says otherwise.
    """
    setting = os.environ.get("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "")
    room = int(setting) if setting.isdecimal() else 128
    for place, document in enumerate(documents[: (room - OTHERS) // (LISTS * len(documents[0])) if documents else 0]):
        opened.set_attributes({f"{key}.{place}.{name}": value for name, value in document.items()})


OTHERS, LISTS = 16, 2
"""Attributes reserved for everything but documents, and the largest number of document lists in a span."""


@cache
def _has_conventions() -> bool:
    try:
        import openinference.semconv.trace  # noqa: F401
    except ImportError:
        return False
    return True
