"""The span of a ranking, with OpenInference's conventions for rerankers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from cascada.core.tracing import set_documents, span, traces_texts
from cascada.ranking.checks import is_number
from cascada.ranking.inputs import RankOptions, text_of
from cascada.ranking.result import Ranking, TextOrMapping

if TYPE_CHECKING:
    from opentelemetry.trace import Span


@contextmanager
def rank_span(
    model: str | None, question: str, candidates: Sequence[TextOrMapping], options: RankOptions
) -> Iterator[Callable[[Ranking], None]]:
    """A span around a ranking. Yields a function to call with the result, which does nothing if nobody records."""
    with span("rank", "RERANKER") as opened:
        yield _ignore if opened is None else partial(_record, opened, model, question, candidates, options)


def _ignore(ranking: Ranking) -> None: ...


def _record(
    opened: Span,
    model: str | None,
    question: str,
    candidates: Sequence[TextOrMapping],
    options: RankOptions,
    ranking: Ranking,
) -> None:
    from openinference.semconv.trace import DocumentAttributes as Document
    from openinference.semconv.trace import RerankerAttributes as Reranker

    texts = traces_texts()
    inputs = [_input(index, candidate, texts) for index, candidate in enumerate(candidates)]
    set_documents(opened, Reranker.RERANKER_INPUT_DOCUMENTS, inputs)
    outputs = [
        {Document.DOCUMENT_ID: str(item.index), Document.DOCUMENT_SCORE: item.score}
        | ({Document.DOCUMENT_CONTENT: item.text} if texts else {})
        for item in ranking
    ]
    set_documents(opened, Reranker.RERANKER_OUTPUT_DOCUMENTS, outputs)
    facts: dict[str, Any] = {
        "candidates": len(candidates),
        "relative_cost": ranking.relative_cost,
        "complete": ranking.complete,
    }
    facts |= {"likely": ranking.likely, "skipped": ranking.skipped, "cached": sum(s.cached for s in ranking.stages)}
    attributes = {f"cascada.{name}": value for name, value in facts.items()}
    attributes |= {Reranker.RERANKER_MODEL_NAME: model, Reranker.RERANKER_TOP_K: options.top}
    attributes |= {Reranker.RERANKER_QUERY: question} if texts else {}
    opened.set_attributes({name: value for name, value in attributes.items() if value is not None})


def _input(index: int, candidate: TextOrMapping, texts: bool) -> dict[str, Any]:
    from openinference.semconv.trace import DocumentAttributes as Document

    prior: Any = candidate.get("prior") if isinstance(candidate, Mapping) else None
    document: dict[str, Any] = {Document.DOCUMENT_ID: str(index)}
    document |= {Document.DOCUMENT_SCORE: float(prior)} if is_number(prior) else {}
    return document | ({Document.DOCUMENT_CONTENT: text_of(candidate)} if texts else {})
