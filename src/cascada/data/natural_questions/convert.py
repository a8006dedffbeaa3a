"""Natural Questions → ASNQ, streaming: every line becomes a group, a reason to skip it, or a complaint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.core.workers import in_order
from cascada.data.group import Candidate, Group
from cascada.data.lines import RawLine, Source, raw_lines
from cascada.data.natural_questions.labels import Skipped, labelled
from cascada.data.natural_questions.record import parse
from cascada.data.statistics import Statistics

Outcome = Group | Skipped | DataError


Plain = tuple[str | None, str, list[tuple[str, int | None]]]
"""A group as it comes from a worker: plain values travel ten times faster than objects."""


def outcomes(
    paths: Iterable[Source], *, workers: int = 1, advance: Callable[[int], object] | None = None
) -> Iterator[Outcome]:
    """One outcome for each line of the files, in order.

    A bad line is a `DataError` with its file and number, handed out and not raised: the lines after it go on. Where a
    gzip file is cut off, the next file does. `advance` hears of the bytes read.

        for outcome in outcomes(["nq-train-00.jsonl.gz"]):
            if isinstance(outcome, Group):
                print(outcome.question, [candidate.grade for candidate in outcome.candidates])
    """
    return map(_restored, in_order(_converted, _lines(paths, advance), workers=workers))


def _converted(line: RawLine | DataError) -> Plain | Skipped | DataError:
    if isinstance(line, DataError):
        return line
    try:
        found = labelled(parse(line.decoded()))
    except DataError as error:
        return error
    if isinstance(found, Skipped):
        return found
    return found.id, found.question, [(candidate.text, candidate.grade) for candidate in found.candidates]


def _restored(found: Plain | Skipped | DataError) -> Outcome:
    if not isinstance(found, tuple):
        return found
    name, question, candidates = found
    return Group(question, tuple(Candidate(text, int(grade == 4), grade=grade) for text, grade in candidates), name)


def _lines(paths: Iterable[Source], advance: Callable[[int], object] | None) -> Iterator[RawLine | DataError]:
    for path in paths:
        try:
            yield from _lines_of(path, advance)
        except DataError as error:
            yield error


def _lines_of(path: Source, advance: Callable[[int], object] | None) -> Iterator[RawLine]:
    """Without the empty lines at the end of the file; one in the middle is handed on, to be complained about."""
    blank: RawLine | None = None
    line: RawLine | None = None
    for line in raw_lines(path, advance):
        if not line.raw.strip():
            blank = blank or line
            continue
        if blank:
            yield blank
            blank = None
        yield line
    if line is None or (blank and blank.number == 1):
        raise DataError(f"{path} is empty: expected lines of Natural Questions")


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
    with atomic_write(path) as file:
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
