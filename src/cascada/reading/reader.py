"""The reader: it takes questions and texts and returns spans of the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.checks import checked_top
from cascada.reading.shape import check_reader
from cascada.reading.span import Floats, Span, best_span
from cascada.text.pair_arrays import Ints
from cascada.text.windows import Windows, WindowTokenizer

ScoreWindows = Callable[[Windows, Ints], Floats]
"""From windows and some of their row numbers to logits (rows, longest, 2) of each token being the first and the last of
an answer. The first token of a row represents "no answer"."""

QuestionAndTexts = tuple[str, Sequence[str]]


def one_by_one(work: Callable[[Ints], None], batches: Iterator[Ints]) -> None:
    """Call `work` with every batch."""
    for batch in batches:
        work(batch)


@dataclass(frozen=True)
class Batching:
    """How an engine takes windows."""

    budget: int = 1024
    """Padded tokens computed at once."""
    run: Callable[[Callable[[Ints], None], Iterator[Ints]], None] = one_by_one
    """Calls a function with every batch, in parallel if that is faster."""


class Reader:
    """Finds short answers. Created by `Reader.load`; can be used from several threads."""

    def __init__(self, score: ScoreWindows, tokenizer: WindowTokenizer, batching: Batching | None = None) -> None:
        self.score = score
        self.tokenizer = tokenizer
        self.batching = batching or Batching()

    @staticmethod
    def load(folder: str | Path) -> Reader:
        """Load the reader that `cascada train` wrote into `folder`, or `cascada export`; the latter needs no torch."""
        check_reader(Path(folder))  # before anything heavy is loaded
        from cascada.reading import engine

        return engine.load(Path(folder))

    def read(self, question: str, texts: Sequence[str], *, top: int | None = None) -> list[Span]:
        """The best span of each text, by descending score; equal scores keep the order of the texts.

        `top` limits the number of spans. Texts may have any length; a text without words has no span. `Span.likely`
        says whether the reader takes the span for an answer.

            reader.read("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."])[0].text
        """
        top = checked_top(top)
        return self.read_many([(question, texts)])[0][:top]

    def read_many(self, questions: Iterable[QuestionAndTexts]) -> list[list[Span]]:
        """`read` for each (question, texts), computed together."""
        groups = [_checked(question, texts) for question, texts in questions]
        owner = np.repeat(np.arange(len(groups)), [len(texts) for _, texts in groups])
        texts = [text for _, own_texts in groups for text in own_texts]
        spans = self._spans([question for question, _ in groups], texts, owner) if texts else {}
        by_group: list[list[Span]] = [[] for _ in groups]
        first = np.searchsorted(owner, np.arange(len(groups)))
        for number in sorted(spans):
            group = int(owner[number])
            by_group[group].append(replace(spans[number], document=number - int(first[group])))
        return [sorted(own_spans, key=lambda span: -span.score) for own_spans in by_group]

    def _spans(self, questions: Sequence[str], texts: Sequence[str], owner: Ints) -> dict[int, Span]:
        """The best span of each text that has one, by the text's number."""
        windows = self.tokenizer.encode(questions, texts, owner)
        in_window: list[tuple[float, int, int] | None] = [None] * len(windows)

        def work(rows: Ints) -> None:
            for window, logits in zip(rows.tolist(), self.score(windows, rows), strict=True):
                if windows.tokens[window]:
                    in_window[window] = _best_in_window(windows, window, logits)

        self.batching.run(work, shortest_first(windows.encoded.lengths, self.batching.budget))
        best: dict[int, tuple[float, int, int]] = {}
        for number, place in zip(windows.text.tolist(), in_window, strict=True):
            if place and (number not in best or place[0] > best[number][0]):
                best[number] = place
        spans = {number: _span(texts[number], number, *place) for number, place in best.items()}
        return {number: span for number, span in spans.items() if span.text}


def _best_in_window(windows: Windows, window: int, logits: Floats) -> tuple[float, int, int]:
    """The log-odds of a window's best span against "no answer", and its first and last character.

    `logits` is (tokens, 2).
    """
    first = int(windows.first[window])
    own = logits[first : first + int(windows.tokens[window])]  # (tokens, 2)
    score, begin, end = best_span(own[:, 0], own[:, 1])
    return score - float(logits[0].sum()), *windows.character_span(window, first + begin, first + end)


def _span(text: str, number: int, raw: float, start: int, end: int) -> Span:
    """A span without surrounding spaces: some tokenizers make the space before a word a part of it."""
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    answer = part.strip()
    return Span(answer, start, start + len(answer), float(sigmoid(np.array([raw], np.float32))[0]), number)


def _checked(question: str, texts: Sequence[str]) -> QuestionAndTexts:
    if not isinstance(question, str) or not question.strip():
        raise CascadaError("The question is empty.")
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise CascadaError("The texts must be a list of strings.")
    return question, texts
