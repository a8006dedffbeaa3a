"""The reader: questions and texts in, spans of the texts out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cascada.core.errors import CascadaError, require_torch
from cascada.core.folder import READER, SHAPE_FILE, kind_of
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.inputs import checked_top
from cascada.reading.span import Floats, Span, best_span
from cascada.text.pairs import Ints
from cascada.text.windows import Windows, WindowTokenizer

TOKEN_BUDGET = 1024
"""Padded tokens computed at once."""


Score = Callable[[Windows, Ints], Floats]
"""Windows, and some of their rows, to (rows, longest, 2): how likely a token is the first and the last of an answer.
The first token of a row stands for there being none."""


Asked = tuple[str, Sequence[str]]


class Reader:
    """Finds short answers. Made by `Reader.load`; safe to use from many threads."""

    def __init__(self, score: Score, tokenizer: WindowTokenizer) -> None:
        self.score = score
        self.tokenizer = tokenizer

    @staticmethod
    def load(folder: str | Path) -> Reader:
        """The reader that `cascada train` wrote into `folder` from a recipe of kind reader."""
        check_reader(Path(folder))  # before anything heavy is loaded
        require_torch("the reader")
        from cascada.reading.network import torch_reader

        return torch_reader(Path(folder))

    def read(self, question: str, texts: Sequence[str], *, top: int | None = None) -> list[Span]:
        """The best span of each text, the likeliest first; of equals the one given first. `top` keeps the first few.

        Texts may be of any length; one without words has no span. See `Span.likely` for whether there is an answer.

            reader.read("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."])[0].text
        """
        top = checked_top(top)
        return self.read_many([(question, texts)])[0][:top]

    def read_many(self, asked: Iterable[Asked]) -> list[list[Span]]:
        """`read` for each (question, texts), computed together."""
        groups = [_checked(*one) for one in asked]
        owner = np.repeat(np.arange(len(groups)), [len(texts) for _, texts in groups])
        texts = [text for _, some in groups for text in some]
        spans = self._spans([question for question, _ in groups], texts, owner) if texts else {}
        found: list[list[Span]] = [[] for _ in groups]
        first = np.searchsorted(owner, np.arange(len(groups)))
        for number in sorted(spans):
            group = int(owner[number])
            found[group].append(replace(spans[number], document=number - int(first[group])))
        return [sorted(some, key=lambda span: -span.score) for some in found]

    def _spans(self, questions: Sequence[str], texts: Sequence[str], owner: Ints) -> dict[int, Span]:
        """The best span of each text that has one, by the text's number."""
        windows = self.tokenizer.encode(questions, texts, owner)
        best: dict[int, tuple[float, int, int]] = {}
        for rows in shortest_first(windows.encoded.lengths, TOKEN_BUDGET):
            logits = self.score(windows, rows)
            for row, window in enumerate(rows.tolist()):
                if not windows.tokens[window]:
                    continue
                raw, start, end = _best_of(windows, window, logits[row])
                number = int(windows.text[window])
                if number not in best or raw > best[number][0]:
                    best[number] = raw, start, end
        spans = {number: _span(texts[number], number, *found) for number, found in best.items()}
        return {number: span for number, span in spans.items() if span.text}


def _best_of(windows: Windows, window: int, logits: Floats) -> tuple[float, int, int]:
    """The log-odds of the window's best span against none, and its characters."""
    first = int(windows.first[window])
    own = logits[first : first + int(windows.tokens[window])]  # (tokens, 2)
    score, begin, end = best_span(own[:, 0], own[:, 1])
    return score - float(logits[0].sum()), *windows.characters(window, first + begin, first + end)


def _span(text: str, number: int, raw: float, start: int, end: int) -> Span:
    """Some tokenisers count the space before a word as a part of it."""
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    words = part.strip()
    return Span(words, start, start + len(words), float(sigmoid(np.array([raw], np.float32))[0]), number)


def _checked(question: str, texts: Sequence[str]) -> Asked:
    if not isinstance(question, str) or not question.strip():
        raise CascadaError("The question is empty.")
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise CascadaError("The texts must be a list of strings.")
    return question, texts


def check_reader(folder: Path) -> None:
    """Refuse a folder that does not hold a reader."""
    if folder.is_dir() and not (folder / SHAPE_FILE).is_file():
        raise CascadaError(f"{folder} is not a reader: it has no {SHAPE_FILE}. Train one; see docs/reader.md.")
    if kind_of(folder) != READER:
        raise CascadaError(f"{folder} is not a reader but a ranker. Train a reader; see docs/reader.md.")
