"""Convert Natural Questions to ASNQ, streaming: every line becomes a group, a reason to skip it, or an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.core.workers import map_in_order
from cascada.data.group import Candidate, Group
from cascada.data.lines import RawLine, Source, raw_lines
from cascada.data.natural_questions.labels import Skipped, labelled
from cascada.data.natural_questions.record import parse
from cascada.data.statistics import Statistics

LineResult = Group | Skipped | DataError
"""What a line of Natural Questions became."""

PlainGroup = tuple[str | None, str, list[tuple[str, int | None]]]
"""A group as a worker process returns it: plain values are transferred ten times faster than objects."""

KEPT_PROBLEMS = 10
"""Errors that `Conversion` keeps; the others are only counted."""


def line_results(
    paths: Iterable[Source], *, workers: int = 1, advance: Callable[[int], object] | None = None
) -> Iterator[LineResult]:
    """Yield one result for each line of the files, in order.

    The result of a bad line is a `DataError`, which is yielded and not raised: conversion continues with the next line,
    or, if a gzip file is truncated, with the next file. `advance` is called with the number of bytes read.

        for result in line_results(["nq-train-00.jsonl.gz"]):
            if isinstance(result, Group):
                print(result.question, [candidate.grade for candidate in result.candidates])
    """
    return map(_restored, map_in_order(_converted, _lines(paths, advance), workers=workers))


def _converted(line: RawLine | DataError) -> PlainGroup | Skipped | DataError:
    if isinstance(line, DataError):
        return line
    try:
        result = labelled(parse(line.decoded()))
    except DataError as error:
        return error
    if isinstance(result, Skipped):
        return result
    return result.id, result.question, [(candidate.text, candidate.grade) for candidate in result.candidates]


def _restored(result: PlainGroup | Skipped | DataError) -> LineResult:
    if not isinstance(result, tuple):
        return result
    name, question, candidates = result
    return Group(question, tuple(Candidate(text, int(grade == 4), grade=grade) for text, grade in candidates), name)


def _lines(paths: Iterable[Source], advance: Callable[[int], object] | None) -> Iterator[RawLine | DataError]:
    for path in paths:
        try:
            yield from _lines_of(path, advance)
        except DataError as error:
            yield error


def _lines_of(path: Source, advance: Callable[[int], object] | None) -> Iterator[RawLine]:
    """The lines, without empty ones at the end of the file. One before other lines is passed on, to become an error."""
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


class AsnqFile:
    """A file in ASNQ's layout. It has no quoting: texts must not contain tabs or newlines."""

    def __init__(self, file: IO[str]) -> None:
        self.counted = Statistics()
        self._file = file
        self._questions: set[str] = set()

    def add(self, question: str, candidate: Candidate) -> None:
        """Write and count a pair."""
        self._file.write(f"{question}\t{candidate.text}\t{candidate.grade}\n")
        self._questions.add(question)
        self.counted.questions = len(self._questions)
        self.counted.add_pair(candidate)


@dataclass
class Conversion:
    """Counts of what the lines became."""

    counted: Statistics = field(default_factory=Statistics)
    skipped: Counter[Skipped] = field(default_factory=Counter)
    problems: int = 0
    first_problems: list[DataError] = field(default_factory=list)
    """At most `KEPT_PROBLEMS` of them."""

    def note(self, result: Skipped | DataError) -> None:
        """Count a line that did not become a group."""
        if isinstance(result, Skipped):
            self.skipped[result] += 1
            return
        self.problems += 1
        if len(self.first_problems) < KEPT_PROBLEMS:
            self.first_problems.append(result)

    def check(self, path: Source) -> None:
        """Raise DataError if there are no questions to write to `path`."""
        if not self.counted.questions:
            raise DataError(f"{path} was not written: {_nothing(self)}.")


def write_asnq(results: Iterable[LineResult], path: Source) -> Conversion:
    """Write the groups, streaming. The file appears when everything has been read, and only if it has a question."""
    with atomic_write(path) as file:
        done = add_results(results, AsnqFile(file))
        done.check(path)
    return done


def add_results(results: Iterable[LineResult], asnq: AsnqFile) -> Conversion:
    """Write the groups into an open file."""
    done = Conversion(asnq.counted)
    for result in results:
        if isinstance(result, Group):
            for candidate in result.candidates:
                asnq.add(result.question, candidate)
        else:
            done.note(result)
    return done


def _nothing(done: Conversion) -> str:
    reasons = [f"{count:,} with {reason.value}" for reason, count in done.skipped.items()]
    problems = [str(problem) for problem in done.first_problems[:1]]
    return "; ".join(["there is no question with an answer sentence", *reasons, *problems])
