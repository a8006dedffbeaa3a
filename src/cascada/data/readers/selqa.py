"""SelQA's answer sentence selection: a JSON list of `{question, candidates: [text], answers: [index]}`."""

from __future__ import annotations

from collections.abc import Iterator

from cascada.data import check
from cascada.data.check import Entry
from cascada.data.group import Candidate, Group
from cascada.data.lines import Source


def read(path: Source) -> Iterator[Group]:
    entries = check.items(check.json_file(path), "questions", Entry(path, "the document"))
    for number, entry in enumerate(entries, 1):
        yield _group(entry, Entry(path, f"question {number}"))


def _group(entry: object, where: Entry) -> Group:
    record = check.mapping(entry, "a question", where)
    texts = check.items(record.get("candidates"), "candidates", where)
    answers = check.items(record.get("answers"), "answers", where)
    for answer in answers:
        if type(answer) is not int or not 0 <= answer < len(texts):
            raise where.error(f"expected answers from 0 to {len(texts) - 1}, found {check.shown(answer)}")
    correct = set(answers)
    candidates = (
        Candidate(check.one_of({"candidates": text}, ("candidates",), where), int(index in correct))
        for index, text in enumerate(texts)
    )
    return Group(check.question(record.get("question"), where), tuple(candidates))
