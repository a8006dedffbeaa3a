"""The child process of robustness.py: it reads a JSON request per line, opens what it names, and writes the outcome.

It runs until its input ends. If a library crashes it, its parent counts the crash and starts another.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cascada import CascadaError, Ranker
from cascada.search import Asker, Index, read_passages, retriever_of
from cascada.store import Store, check_structure, damaged_keys

QUESTION = "What did the chemist do with oxygen?"
TEXTS = [
    "He made enough liquid oxygen to study it.",
    "The river is long.",
    "Oxygen is a gas that was discovered twice.",
    "A chemist is a person who mixes things.",
]


def ranked(folder: str) -> Any:
    """The order and scores of a few texts, by the model in a folder."""
    ranking = Ranker.load(folder).rank(QUESTION, TEXTS)
    return [[item.index, round(item.score, 6)] for item in ranking]


def asked(folder: str) -> Any:
    """The answers from an index, by BM25, and how many passages it has."""
    index = Index(folder)
    retriever = retriever_of([], index=Path(folder))
    answers = Asker(retriever, Ranker.load("bm25")).ask(QUESTION, top=5)
    return [len(index), sorted(index.files()), [[answer.text, answer.start, answer.end] for answer in answers]]


def stored(folder: str) -> Any:
    """For every text the sum of its encoding's absolute values, or None; after the checks of `cascada store verify`."""
    check_structure(Path(folder))
    store = Store.open(folder)
    damaged = set(damaged_keys(store))
    if damaged:
        raise CascadaError(f"{len(damaged)} entries are damaged.")
    return [None if value is None else round(float(abs(value).sum()), 4) for value in store.get(TEXTS)]


def read(folder: str) -> Any:
    """The number of passages in the damaged file of a folder; the good file beside it has to be read in any case."""
    passages = read_passages([folder], report=lambda problem: None)
    good = [passage.text for passage in passages if Path(passage.document).name == "good.txt"]
    if good != ["The good file has one sentence."]:
        raise AssertionError(f"the good file was lost: {good}")
    bad = len(passages) - len(good)
    if not bad:
        raise CascadaError("The bad file was left out.")
    return bad


WORK: dict[str, Callable[[str], Any]] = {"model": ranked, "index": asked, "store": stored, "documents": read}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)  # what libraries print to stdout is no answer
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": WORK[request["kind"]](request["folder"])}
        except CascadaError as error:
            answer = {"refused": str(error)}
        except BaseException as error:  # what no user should see
            answer = {"fault": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
