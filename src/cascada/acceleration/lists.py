"""Questions with candidate lists: given, or retrieved by BM25 from a corpus. Labels are never looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cascada.core.errors import CascadaError
from cascada.data import check
from cascada.data.group import Candidate, Group, identified
from cascada.data.lines import lines, records
from cascada.text.bm25 import BM25Index

CANDIDATES = 100
"""Candidates that BM25 lists for a question, unless another number is asked for."""


@dataclass(frozen=True)
class Lists:
    """The questions to learn from, each with two candidates or more, and how many were left out."""

    groups: list[Group]
    short: int = 0
    """Questions left out because they have fewer than two candidates: there is nothing to rank."""
    repeated: int = 0
    """Questions left out because an earlier one has the same text and candidates: a repeated question would let the
    certificate be tested on what heads were learned from."""

    @property
    def pairs(self) -> int:
        """The number of candidates of all questions."""
        return sum(len(group.candidates) for group in self.groups)

    @property
    def texts(self) -> list[str]:
        """The distinct candidates."""
        return list(dict.fromkeys(text for group in self.groups for text in group.texts))


def usable(groups: Iterable[Group]) -> Lists:
    """The groups without those that are too short or repeated; all of them get ids."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    kept: list[Group] = []
    short = repeated = 0
    for group in identified(groups):
        key = (group.question, group.texts)
        if len(group.candidates) < 2:
            short += 1
        elif key in seen:
            repeated += 1
        else:
            seen.add(key)
            kept.append(group)
    if not kept:
        raise CascadaError(
            "No question has two candidates or more: give each question its candidates, or a corpus to take them from "
            "(--corpus FILE)."
        )
    return Lists(kept, short, repeated)


def retrieved(questions: Iterable[Group], texts: Sequence[str], candidates: int = CANDIDATES) -> Iterator[Group]:
    """Each question with the first candidates that BM25 finds among the texts, best first."""
    if candidates < 2:
        raise CascadaError(f"candidates is {candidates}; a list has at least 2.")
    distinct = [text for text in dict.fromkeys(texts) if text.strip()]
    if not distinct:
        raise CascadaError("The corpus has no text.")
    index = BM25Index(distinct)
    for group in questions:
        best = index.best(group.question, candidates)
        yield Group(group.question, tuple(Candidate(distinct[number]) for number in best), group.id)


def read_questions(path: Path) -> Iterator[Group]:
    """The questions of a file, without candidates: JSONL with "question", or otherwise one question per line."""
    if ".jsonl" not in path.suffixes:
        yield from (Group(line.text.strip(), ()) for line in lines(path) if line.text.strip())
        return
    for line in records(path, 'one JSON object per line, with a "question"'):
        record = check.json_line(line)
        yield Group(check.question(record.get("question"), line), (), check.identifier(record.get("id"), line))


def require_lists(path: Path) -> None:
    """Reject a file of questions without candidates, which needs a corpus."""
    if not path.is_file() or path.suffix == ".csv":
        return  # `read` says what is wrong, or knows the layout
    first = next(lines(path), None)
    if first is None or not first.text.strip():
        return
    bare = ".jsonl" in path.suffixes and "candidates" not in check.json_line(first)
    if bare or path.name.removesuffix(".gz").endswith(".txt"):
        raise CascadaError(
            f"{path} has questions without candidates: give each its candidates, or a corpus to take them from "
            "(--corpus FILE)."
        )
