"""ASNQ files out: lines of question, sentence and label, counted as they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import IO

from cascada.data.atomic import written
from cascada.data.group import Candidate, Group
from cascada.data.lines import Source
from cascada.data.natural_questions.convert import Outcome
from cascada.data.natural_questions.labels import Skipped
from cascada.data.statistics import Statistics
from cascada.errors import DataError

KEPT_PROBLEMS = 10


class AsnqFile:
    """Texts must hold no tab and no newline: the layout has no quoting."""

    def __init__(self, file: IO[str]) -> None:
        self.counted = Statistics()
        self._file = file
        self._questions: set[str] = set()

    def add(self, question: str, candidate: Candidate) -> None:
        self._file.write(f"{question}\t{candidate.text}\t{candidate.grade}\n")
        self._questions.add(question)
        self.counted.questions = len(self._questions)
        self.counted.add_pair(candidate)


@dataclass
class Conversion:
    """What became of the lines read."""

    counted: Statistics = field(default_factory=Statistics)
    skipped: Counter[Skipped] = field(default_factory=Counter)
    problems: int = 0
    first_problems: list[DataError] = field(default_factory=list)
    """At most ten of them."""

    def note(self, outcome: Skipped | DataError) -> None:
        if isinstance(outcome, Skipped):
            self.skipped[outcome] += 1
            return
        self.problems += 1
        if len(self.first_problems) < KEPT_PROBLEMS:
            self.first_problems.append(outcome)

    def check(self, path: Source) -> None:
        """Refuse a file without questions."""
        if not self.counted.questions:
            raise DataError(f"{path} was not written: {_nothing(self)}.")


def write_asnq(outcomes: Iterable[Outcome], path: Source) -> Conversion:
    """Write the groups, streaming; the file appears once everything was read, and only if it holds a question."""
    with written(path) as file:
        done = add_outcomes(outcomes, AsnqFile(file))
        done.check(path)
    return done


def add_outcomes(outcomes: Iterable[Outcome], asnq: AsnqFile) -> Conversion:
    """Write the groups into an open file."""
    done = Conversion(asnq.counted)
    for outcome in outcomes:
        if isinstance(outcome, Group):
            for candidate in outcome.candidates:
                asnq.add(outcome.question, candidate)
        else:
            done.note(outcome)
    return done


def _nothing(done: Conversion) -> str:
    reasons = [f"{count:,} with {reason.value}" for reason, count in done.skipped.items()]
    problems = [str(problem) for problem in done.first_problems[:1]]
    return "; ".join(["there is no question with an answer sentence", *reasons, *problems])
