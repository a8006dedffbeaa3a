"""The pipeline of `ask`: retrieve passages, split them into sentences, rank the sentences, read the best."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from cascada.core.errors import CascadaError
from cascada.ranking import Item, Ranker, Ranking
from cascada.ranking.inputs import RankArguments, RankOptions, read_text
from cascada.ranking.result import TextOrMapping
from cascada.ranking.tracing import rank_span
from cascada.search.answers import Answer, Answers, ShortAnswer, Times
from cascada.search.candidates import CandidateSentence, candidate_sentences
from cascada.search.passage import Passage
from cascada.search.retrievers import Retriever
from cascada.search.tracing import ask_span, retrieve_span
from cascada.systems.decoupled.engine import with_store

if TYPE_CHECKING:
    from cascada.reading import Reader, Span
    from cascada.store import Store


PRIOR = 0.0
"""The default weight of the search engine's scores: they do not count. `benchmarks/ask_prior.py` measures others."""


class Asker:
    """Answers questions with any search engine, any ranker and, if wanted, a reader.

    >>> from cascada.search import Asker, MemoryRetriever, Passage
    >>> asker = Asker(MemoryRetriever([Passage("It rained. Hamlet is by Shakespeare.", "plays.txt", 0, 36)]))
    >>> answer = asker.ask("who wrote hamlet?")[0]
    >>> answer.text, answer.start
    ('Hamlet is by Shakespeare.', 11)
    """

    def __init__(
        self,
        retriever: Retriever,
        ranker: Ranker | None = None,
        *,
        reader: Reader | None = None,
        language: str = "en",
        context: bool | None = None,
        store: Store | None = None,
    ) -> None:
        """`reader` finds the short answer in each sentence that is returned. `language`, a two-letter code, is the
        language of the documents, whose rules divide them into sentences. Without a `ranker`: the bundled model. With
        `context`, the ranker reads a sentence together with its heading, or its document's name; by default if it can
        tell the two apart (`Ranker.reads_context`). `store` has encodings of the documents' sentences, in their
        context, by this very ranker.
        """
        self.retriever = retriever
        self.ranker = ranker or Ranker.load()
        self.reader = reader
        self.language = language
        self.context = self.ranker.reads_context if context is None else context
        self.store = store
        self._with_store = None if store is None else with_store(self.ranker, store)

    def ask(self, question: str, *, paragraphs: int = 80, **arguments: Unpack[RankArguments]) -> Answers:
        """The sentences that answer best, out of the best `paragraphs`; none if the search engine finds no paragraph.

        The other arguments are those of `Ranker.rank`; `top` is 3 if it is not given. The search engine's score of a
        sentence's paragraph counts with the weight `prior`, by default `PRIOR`; 0 leaves it out. The deadline starts
        with this call; once it has passed, the reader is not run.
        """
        if arguments.get("prior") is True:
            arguments["prior"] = PRIOR
        options = RankOptions.of(**{"top": 3, **arguments})  # type: ignore[arg-type]
        return self.answer(question, options, paragraphs=paragraphs)

    def answer(self, question: str, options: RankOptions, *, paragraphs: int = 80) -> Answers:
        """`ask` with the ranker's options as one object."""
        _check(question, paragraphs)
        with ask_span(question) as record:
            answers = self._answered(question, options, paragraphs)
            record(answers)
        return answers

    def _answered(self, question: str, options: RankOptions, paragraphs: int) -> Answers:
        started = time.perf_counter()
        with retrieve_span(question) as record:
            passages = self.retriever.retrieve(question, paragraphs)
            record(passages)
        retrieved = time.perf_counter()
        candidates = candidate_sentences(question, passages, language=self.language)
        split = time.perf_counter()
        if not candidates:
            return Answers(question, (), len(passages))
        ranking = self._rank(question, candidates, options)
        ranked = time.perf_counter()
        answers = [_answer(item, candidates[item.index]) for item in ranking]
        if self.reader and options.deadline.left > 0:
            answers = _with_short_answers(self.reader, question, answers)
        seconds = Times(retrieved - started, split - retrieved, ranked - split, time.perf_counter() - ranked)
        return self._answers(ranking, answers, len(passages), len(candidates), seconds)

    def document(self, identifier: str) -> list[Passage]:
        """The passages of the document with this id (`Answer.document_id`), in order; none if the search engine has no
        such document, or cannot look documents up."""
        look_up = getattr(self.retriever, "document", None)
        return list(look_up(identifier)) if look_up else []

    def _rank(self, question: str, candidates: Sequence[CandidateSentence], options: RankOptions) -> Ranking:
        read = [self._to_rank(candidate) for candidate in candidates]
        options = self.ranker.resolved(replace(options, prior=PRIOR if options.prior is None else options.prior))
        ranker = self._ranker_for(read)
        if options.plan is not None:  # stored encodings have no exit 0, and no use for its part of the plan
            options = replace(options, plan=options.plan[len(self.ranker.stages) - len(ranker.stages) :])
        with rank_span(self.ranker.name, question, read, options) as record:
            (ranking,) = ranker.rank_together([(question, read)], options)
            record(ranking)
        return ranking

    def _to_rank(self, candidate: CandidateSentence) -> dict[str, Any]:
        in_context = candidate.to_rank() if self.context else {"text": candidate.text}
        return {**in_context, "prior": candidate.passage.score}

    def _ranker_for(self, candidates: Sequence[TextOrMapping]) -> Ranker:
        """The ranker that reads the store, unless most encodings are missing: exit 0, which needs none, is faster."""
        if self.store is None or self._with_store is None:
            return self.ranker
        missing = self.store.missing(read_text(candidate) for candidate in candidates)
        return self.ranker if 2 * len(missing) > len(candidates) else self._with_store

    def _answers(
        self, ranking: Ranking, answers: list[Answer], passages: int, sentences: int, seconds: Times
    ) -> Answers:
        return Answers(
            ranking.question,
            tuple(answers),
            passages,
            sentences,
            ranking.relative_cost,
            ranking.complete,
            ranking.likely,
            seconds,
        )


def _answer(item: Item, candidate: CandidateSentence) -> Answer:
    passage, start = candidate.passage, candidate.start
    first = passage.start + start
    place = passage.line_at(start), passage.page_at(start)
    return Answer(item.text, passage.document, first, first + len(item.text), item.score, *place, passage)


def _with_short_answers(reader: Reader, question: str, answers: list[Answer]) -> list[Answer]:
    """The answers, each with the short answer that the reader considers likely, if there is one."""
    spans = {span.document: span for span in reader.read(question, [answer.text for answer in answers])}
    return [_with_span(answer, spans.get(number)) for number, answer in enumerate(answers)]


def _with_span(answer: Answer, span: Span | None) -> Answer:
    if span is None or not span.likely:
        return answer
    return replace(answer, short=ShortAnswer(span.text, answer.start + span.start, answer.start + span.end, span.score))


def _check(question: str, paragraphs: int) -> None:
    if not isinstance(question, str) or not question.strip():
        raise CascadaError("The question is empty.")
    if isinstance(paragraphs, bool) or not isinstance(paragraphs, int) or paragraphs < 1:
        raise CascadaError(f"paragraphs is {paragraphs!r}; it must be a whole number from 1.")
