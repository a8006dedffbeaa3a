"""TREC-QA: JSONL, `{id, question, candidates: [{sentence, label}]}`, or the XML of the original release."""

from __future__ import annotations

from collections.abc import Iterator

from cascada.data.group import Group
from cascada.data.lines import Source
from cascada.data.readers import jsonl, trecqa_xml


def read(path: Source) -> Iterator[Group]:
    is_xml = str(path).lower().removesuffix(".gz").endswith(".xml")
    return trecqa_xml.read(path) if is_xml else jsonl.read(path)
