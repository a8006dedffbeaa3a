"""What finds passages for a question: a small protocol, so that any search engine can stand there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, get_args

from cascada.errors import CascadaError
from cascada.search.passage import Passage

Scoring = Literal["bm25", "tfidf"]


class Retriever(Protocol):
    """A search engine of your own needs this one method:

        class Mine:
            def retrieve(self, question: str, count: int) -> list[Passage]:
                return [Passage(hit.text, hit.name, hit.start, hit.end, hit.score) for hit in ask_mine(question, count)]

    A passage is a piece of a document, with the place of its first character and the one after its last.
    """

    def retrieve(self, question: str, count: int) -> Sequence[Passage]:
        """At most `count` passages, best first; none if nothing fits."""
        ...


def checked_scoring(scoring: str) -> Scoring:
    """The scoring of that name, or a sentence with those there are."""
    if scoring not in get_args(Scoring):
        raise CascadaError(f"The scoring is {scoring!r}; it must be bm25 or tfidf.")
    return scoring  # type: ignore[return-value]
