"""SelQA's answer sentence selection: a JSON list of `{question, candidates: [text], answers: [index]}`."""

from __future__ import annotations

from collections.abc import Iterator

from cascada.data import check
from cascada.data.check import Entry
from cascada.data.group import Candidate, Group
from cascada.data.lines import Source


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file."""
    entries = check.list_of(check.json_file(path), "questions", Entry(path, "the document"))
    for number, entry in enumerate(entries, 1):
        yield _group(entry, Entry(path, f"question {number}"))


def _group(entry: object, where: Entry) -> Group:
    record = check.json_object(entry, "a question", where)
    texts = check.list_of(record.get("candidates"), "candidates", where)
    answers = check.list_of(record.get("answers"), "answers", where)
    for answer in answers:
        if type(answer) is not int or not 0 <= answer < len(texts):
            raise where.error(f"expected answers from 0 to {len(texts) - 1}, found {check.shorten(answer)}")
    correct = set(answers)
    candidates = (
        Candidate(check.text_field({"candidates": text}, ("candidates",), where), int(index in correct))
        for index, text in enumerate(texts)
    )
    return Group(check.question(record.get("question"), where), tuple(candidates))
