"""Exact match and F1 of a reader on questions with marked answers, as SQuAD's script computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cascada.data.sample import sample
from cascada.data.spans import MarkedAnswer, read_paragraphs
from cascada.metrics import Evaluation, exact_match, f1
from cascada.reading.reader import Reader

AT_ONCE = 64
"""Questions that are read together."""


@dataclass(frozen=True, slots=True)
class MarkedQuestion:
    """A question about one text, with the answers marked in it."""

    id: str
    question: str
    text: str
    answers: tuple[MarkedAnswer, ...]


def read_questions(source: str | Path, count: int | None = None, *, seed: int = 0) -> list[MarkedQuestion]:
    """The questions of a file in SQuAD's layout, each with its own paragraph; or a sample of `count` of them."""
    questions = [
        MarkedQuestion(question.id, question.text, paragraph.text, question.answers)
        for paragraph in read_paragraphs(source)
        for question in paragraph.questions
    ]
    return sample(questions, len(questions) if count is None else count, lambda marked: marked.question, seed=seed)


def read_all(
    reader: Reader,
    questions: Sequence[MarkedQuestion],
    *,
    always: bool,
    advance: Callable[[int], None] = lambda questions: None,
) -> dict[str, str]:
    """Question id → the best span of its own text; an unlikely span becomes "", unless `always`.

    `advance` is called with the number of questions that were read.
    """
    answers: dict[str, str] = {}
    for start in range(0, len(questions), AT_ONCE):
        chunk = questions[start : start + AT_ONCE]
        spans = reader.read_many([(marked.question, [marked.text]) for marked in chunk])
        answers |= {
            marked.id: best[0].text if best and (always or best[0].likely) else ""
            for marked, best in zip(chunk, spans, strict=True)
        }
        advance(len(chunk))
    return answers


def answer_evaluation(answers: dict[str, str], questions: Sequence[MarkedQuestion]) -> Evaluation:
    """EM and F1 of the answers, by question id, to each of the questions."""
    correct = {marked.id: [answer.text for answer in marked.answers] for marked in questions}
    measures = {"EM": exact_match, "F1": f1}
    return Evaluation(
        {
            name: {question: measure(answers[question], texts) for question, texts in correct.items()}
            for name, measure in measures.items()
        }
    )


def all_answerable(questions: Sequence[MarkedQuestion]) -> bool:
    """Whether every question has an answer, as in SQuAD 1.1: then the best span always counts, however unlikely."""
    return all(marked.answers for marked in questions)


def measure_reader(
    reader: Reader, questions: Sequence[MarkedQuestion], advance: Callable[[int], None] = lambda questions: None
) -> Evaluation:
    """Read every question's own text, and compare the answers with the correct ones."""
    answers = read_all(reader, questions, always=all_answerable(questions), advance=advance)
    return answer_evaluation(answers, questions)
