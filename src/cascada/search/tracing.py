"""The spans of `ask`: a chain of retrieving and ranking, with OpenInference's conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from cascada.core.tracing import set_documents, span, traces_texts
from cascada.search.answers import Answers
from cascada.search.passage import Passage


@contextmanager
def ask_span(question: str) -> Iterator[Callable[[Answers], None]]:
    """A span around a whole question. Yields a function to call with the answers."""
    with span("ask", "CHAIN") as opened:

        def record(answers: Answers) -> None:
            if opened is None:
                return
            from openinference.semconv.trace import SpanAttributes

            counts = {"passages": answers.passages, "sentences": answers.sentences, "answers": len(answers)}
            opened.set_attributes({f"cascada.{name}": count for name, count in counts.items()})
            if traces_texts():
                opened.set_attribute(SpanAttributes.INPUT_VALUE, question)
                opened.set_attribute(SpanAttributes.OUTPUT_VALUE, "\n".join(answer.text for answer in answers))

        yield record


@contextmanager
def retrieve_span(question: str) -> Iterator[Callable[[Sequence[Passage]], None]]:
    """A span around a search. Yields a function to call with the passages."""
    with span("retrieve", "RETRIEVER") as opened:

        def record(passages: Sequence[Passage]) -> None:
            if opened is None:
                return
            from openinference.semconv.trace import DocumentAttributes as Document
            from openinference.semconv.trace import SpanAttributes

            texts = traces_texts()
            documents = [
                {Document.DOCUMENT_SCORE: float(passage.score)}
                | ({Document.DOCUMENT_ID: passage.document, Document.DOCUMENT_CONTENT: passage.text} if texts else {})
                for passage in passages
            ]
            set_documents(opened, SpanAttributes.RETRIEVAL_DOCUMENTS, documents)
            if texts:
                opened.set_attribute(SpanAttributes.INPUT_VALUE, question)

        yield record
