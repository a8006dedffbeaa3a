"""Split an ASNQ file by question: ASNQ has only train and dev, and the Cascade Transformer paper halves dev."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.data.lines import Source, records
from cascada.data.natural_questions.convert import AsnqFile
from cascada.data.readers.asnq import rows
from cascada.data.statistics import Statistics


@dataclass
class Splits:
    """Counts of the splits that were written."""

    counted: dict[str, Statistics]
    unlisted: Statistics = field(default_factory=Statistics)
    """Pairs whose question is in no list, and which are therefore in no split."""
    absent: dict[str, int] = field(default_factory=dict)
    """Split → number of questions in its list that the data does not have."""


def listed(lists: Mapping[str, Source]) -> dict[str, str]:
    """Question → split, from files with one question per line. No question may be in two of them."""
    chosen: dict[str, str] = {}
    for split, path in lists.items():
        for line in records(path, "one question per line"):
            question = _plain(line.text)
            if chosen.setdefault(question, split) != split:
                raise line.error(f"{question!r} is also in the list for {chosen[question]}")
    return chosen


def halved(path: Source, seed: int, names: tuple[str, str] = ("dev", "test")) -> dict[str, str]:
    """Question → split, half of the file's questions each, at random; the first has one more if their number is odd.

    The same questions and seed give the same halves, whatever the order of the lines.
    """
    questions = sorted({_plain(row.question) for row in rows(path)})
    random.Random(seed).shuffle(questions)
    middle = (len(questions) + 1) // 2
    return {question: names[index >= middle] for index, question in enumerate(questions)}


def write_splits(path: Source, chosen: Mapping[str, str], folder: Source) -> Splits:
    """Write `{split}.tsv` for every split, with the lines of its questions in the order of `path`."""
    names = sorted(set(chosen.values()))
    targets = {name: Path(folder) / f"{name}.tsv" for name in names}
    if Path(path).resolve() in (target.resolve() for target in targets.values()):
        raise DataError(f"{path} would be overwritten by its own split; write to another folder.")
    Path(folder).mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        files = {name: AsnqFile(stack.enter_context(atomic_write(target))) for name, target in targets.items()}
        return _distributed(path, chosen, files, targets)


def _distributed(
    path: Source, chosen: Mapping[str, str], files: Mapping[str, AsnqFile], targets: Mapping[str, Path]
) -> Splits:
    done = Splits({name: file.counted for name, file in files.items()})
    unlisted: set[str] = set()
    for question, candidate, _ in rows(path):
        split = chosen.get(_plain(question))
        if split:
            files[split].add(question, candidate)
        else:
            unlisted.add(question)
            done.unlisted.add_pair(candidate)
    done.unlisted.questions = len(unlisted)
    for name, counted in done.counted.items():
        if not counted.questions:
            raise DataError(f"{targets[name]} was not written: {path} has none of its questions.")
        done.absent[name] = sum(split == name for split in chosen.values()) - counted.questions
    return done


def _plain(question: str) -> str:
    """The question with single spaces: lists and data may differ in white space."""
    return " ".join(question.split())
