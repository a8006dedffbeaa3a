"""Training examples of a reader: windows of paragraphs with a marked answer, and of paragraphs without one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cascada.core.errors import CascadaError
from cascada.data import Group, read
from cascada.data.spans import MarkedAnswer
from cascada.reading.measure import MarkedQuestion, read_questions
from cascada.reading.settings import SpanSettings
from cascada.text.pair_arrays import Ints
from cascada.text.windows import Windows, WindowTokenizer
from cascada.training.examples import Examples


def marked_questions(settings: SpanSettings) -> list[MarkedQuestion]:
    """The questions that the settings name, each with its own paragraph."""
    return read_questions(settings.source, settings.questions, seed=settings.sample_seed)


def incorrect_texts(settings: SpanSettings) -> dict[str, tuple[str, ...]]:
    """Question id → the first texts of its group that do not answer it."""
    groups: Iterable[Group] = read(settings.groups) if settings.groups else ()
    return {
        group.id: tuple(candidate.text for candidate in group.candidates if candidate.label == 0)[: settings.wrong]
        for group in groups
        if group.id is not None
    }


@dataclass(frozen=True, kw_only=True)
class SpanExamples(Examples):
    """Windows; `labels` is 1 where a window contains an answer to its question."""

    windows: Windows
    starts: Ints  # (windows,): the answer's first token, or 0
    ends: Ints  # (windows,): the answer's last token, or 0

    @classmethod
    def spans(
        cls, questions: Sequence[MarkedQuestion], incorrect: Mapping[str, Sequence[str]], tokenizer: WindowTokenizer
    ) -> SpanExamples:
        """Every question with its own text and with its incorrect ones."""
        pairs = [(number, marked.text, marked.answers) for number, marked in enumerate(questions)]
        pairs += [
            (number, text, ()) for number, marked in enumerate(questions) for text in incorrect.get(marked.id, ())
        ]
        pairs.sort(key=lambda pair: pair[0])  # makes a question's windows consecutive
        owner = np.array([number for number, _, _ in pairs], dtype=np.int64)
        windows = tokenizer.encode([marked.question for marked in questions], [text for _, text, _ in pairs], owner)
        places = np.array(list(_token_spans(windows, [answers for _, _, answers in pairs])), dtype=np.int64)
        if not places.any():
            raise CascadaError("The training data has no answer that fits into a window: there is nothing to learn.")
        return cls(
            encoded=windows.encoded,
            labels=(places[:, 0] > 0).astype(np.int64),
            owner=owner[windows.text],
            pad_id=tokenizer.pad_id,
            windows=windows,
            starts=places[:, 0],
            ends=places[:, 1],
        )

    def inputs(self, rows: list[int]) -> dict[str, np.ndarray]:
        places = {"starts": self.starts[rows], "ends": self.ends[rows]}
        return {**super().inputs(rows), "document": self.windows.document_mask(rows), **places}


def _token_spans(windows: Windows, answers: Sequence[tuple[MarkedAnswer, ...]]) -> Iterator[tuple[int, int]]:
    """The first and last token, in each window, of the first answer that it contains whole; 0 and 0 without one."""
    for window in range(len(windows)):
        own = answers[windows.text[window]]
        spans = (windows.token_span(window, answer.start, answer.start + len(answer.text)) for answer in own)
        yield next((span for span in spans if span), (0, 0))
