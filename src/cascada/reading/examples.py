"""Questions with answer spans as training material: windows of their paragraphs, and of others without an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from cascada.core.errors import CascadaError
from cascada.data import Group, read
from cascada.data.spans import MarkedAnswer, read_paragraphs
from cascada.reading.settings import SpanSettings
from cascada.text.pairs import Ints
from cascada.text.windows import Windows, WindowTokenizer
from cascada.training.examples import Examples


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of one text."""

    id: str
    question: str
    text: str
    answers: tuple[MarkedAnswer, ...]


def asked_in(settings: SpanSettings) -> list[Asked]:
    """The questions of a SQuAD file, each with its own paragraph."""
    found = (
        Asked(question.id, question.text, paragraph.text, question.answers)
        for paragraph in read_paragraphs(settings.source)
        for question in paragraph.questions
    )
    return list(islice(found, settings.questions))


def wrong_texts(settings: SpanSettings) -> dict[str, tuple[str, ...]]:
    """By question id, the first texts of its group that do not answer it."""
    groups: Iterable[Group] = read(settings.groups) if settings.groups else ()
    return {
        group.id: tuple(one.text for one in group.candidates if one.label == 0)[: settings.wrong]
        for group in groups
        if group.id is not None
    }


@dataclass(frozen=True, kw_only=True)
class SpanExamples(Examples):
    """Windows; `labels` is 1 where a window holds its question's answer."""

    windows: Windows
    starts: Ints  # (windows,): the first place of the answer, or 0
    ends: Ints  # (windows,): the last one

    @classmethod
    def spans(
        cls, asked: Sequence[Asked], wrong: Mapping[str, Sequence[str]], tokenizer: WindowTokenizer
    ) -> SpanExamples:
        """Every question with its own text and with the wrong ones."""
        pairs = [(number, one.text, one.answers) for number, one in enumerate(asked)]
        pairs += [(number, text, ()) for number, one in enumerate(asked) for text in wrong.get(one.id, ())]
        pairs.sort(key=lambda pair: pair[0])  # a question's windows together
        owner = np.array([number for number, _, _ in pairs], dtype=np.int64)
        windows = tokenizer.encode([one.question for one in asked], [text for _, text, _ in pairs], owner)
        places = np.array(list(_places(windows, [answers for _, _, answers in pairs])), dtype=np.int64)
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
        return {**super().inputs(rows), "document": self.windows.document(rows), **places}


def _places(windows: Windows, answers: Sequence[tuple[MarkedAnswer, ...]]) -> Iterator[tuple[int, int]]:
    """Where in each window the first answer that it holds whole begins and ends; 0 and 0 if it holds none."""
    for window in range(len(windows)):
        marked = answers[windows.text[window]]
        found = (windows.places(window, one.start, one.start + len(one.text)) for one in marked)
        yield next((places for places in found if places), (0, 0))
