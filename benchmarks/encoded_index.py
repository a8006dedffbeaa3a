"""Ask an index with and without encodings: time, passages found, answers found, and what encoding costs.

    python benchmarks/encoded_index.py POOL WORK QUESTIONS… [--passages 100000] [--questions 200] [--encode-only]

POOL is a gzipped JSONL file of passages, `{"id", "text"}` a line. QUESTIONS are files in SQuAD's layout; their
paragraphs are added to the pool. The documents and the index are written to WORK; what is there already is not made
again, so the script can be interrupted while it encodes. Every variant is asked the same questions in turn, after one
question each that is not counted. "passage @80": the question's own paragraph is retrieved. "own @1": the first
sentence is from there. "answer @1", "@3": the text of an answer is in the first sentence, or in one of the first three.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from itertools import islice
from pathlib import Path

from cascada import Ranker
from cascada.data.spans import read_paragraphs
from cascada.ranking.inputs import RankOptions
from cascada.search import Asker, Index, Passage, Retriever
from cascada.search.hybrid import HybridRetriever, with_encodings

FILES_OF = 5000
"""Passages per file."""

Asked = tuple[str, str, set[str]]
"""A question, its paragraph and its answers."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("asked", type=Path, nargs="+", metavar="QUESTIONS")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200, help="from each file")
    parser.add_argument("--encode-only", action="store_true")
    options = parser.parse_args()
    asked = {path.stem: questions_of(path) for path in options.asked}
    documents = write_documents(options.pool, asked, options.work / f"documents-{options.passages}", options.passages)
    index = Index(options.work / f"index-{options.passages}", create=True)
    index.update([documents])
    report: dict[str, object] = {"passages": len(index), **encoded(index)}
    for name, questions in asked.items() if not options.encode_only else ():
        drawn = random.Random(1).sample(questions, min(options.questions, len(questions)))
        report[name] = {"questions": len(drawn), **measured(index, drawn)}
    print(json.dumps(report, indent=2))


def questions_of(path: Path) -> list[Asked]:
    return [
        (question.text, normalised(paragraph.text), {normalised(answer) for answer in question.answer_texts})
        for paragraph in read_paragraphs(path)
        for question in paragraph.questions
    ]


def normalised(text: str) -> str:
    return " ".join(text.split())


def write_documents(pool: Path, asked: dict[str, list[Asked]], folder: Path, count: int) -> Path:
    """The questions' paragraphs and as many of the pool as make `count`, in files of JSONL."""
    if folder.exists():
        return folder
    gold = list(dict.fromkeys(paragraph for questions in asked.values() for _, paragraph, _ in questions))
    with gzip.open(pool, "rt", encoding="utf-8") as lines:
        others = [json.loads(line) for line in islice(lines, count - len(gold))]
    rows = [{"text": text} for text in gold] + [{"id": row["id"], "text": row["text"]} for row in others]
    folder.mkdir(parents=True)
    for start in range(0, len(rows), FILES_OF):
        part = "\n".join(json.dumps(row) for row in rows[start : start + FILES_OF])
        (folder / f"pool-{start // FILES_OF}.jsonl").write_text(part + "\n", encoding="utf-8")
    return folder


def encoded(index: Index) -> dict[str, object]:
    started, cpu = time.perf_counter(), time.process_time()
    count = index.encode()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    sizes = {path.name: path.stat().st_size for path in (index.folder / "encodings").rglob("*") if path.is_file()}
    speed = {"passages per second": round(count / seconds, 1), "per CPU second": round(count / cpu, 1)} if count else {}
    return {"encoded now": count, **speed, "bytes": sizes}


def measured(index: Index, asked: list[Asked]) -> dict[str, dict[str, float]]:
    ranker = Ranker.load()
    hybrid, store = with_encodings(index, ranker, print)
    assert isinstance(hybrid, HybridRetriever)
    variants = {
        "BM25, sentences encoded for each question": Asker(index, ranker),
        "BM25, stored encodings": Asker(index, ranker, store=store),
        "vectors, stored encodings": Asker(Nearest(hybrid), ranker, store=store),
        "BM25 and vectors, stored encodings": Asker(hybrid, ranker, store=store),
    }
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
    for asker in variants.values():
        asker.ask(asked[0][0])
    for question in asked:
        for name, asker in variants.items():
            rows[name].append(outcome(asker, question))
    return {name: summary(own) for name, own in rows.items()}


class Nearest:
    """The passages with the nearest vectors, without BM25."""

    def __init__(self, hybrid: HybridRetriever) -> None:
        self.hybrid = hybrid

    def retrieve(self, question: str, count: int) -> list[Passage]:
        return self.hybrid.nearest(question, count)


def outcome(asker: Asker, asked: Asked) -> dict[str, float]:
    question, paragraph, answers = asked
    seen = Watched(asker.retriever)
    watched = Asker(seen, asker.ranker, store=asker.store)
    started = time.perf_counter()
    result = watched.answer(question, RankOptions(top=3))
    seconds = time.perf_counter() - started
    has = [any(answer in normalised(found.text) for answer in answers) for found in result]
    own = [normalised(found.passage.text) in paragraph for found in result]
    times = result.seconds
    return {
        "passage @80": paragraph in seen.texts,
        "own @1": any(own[:1]),
        "own @3": any(own),
        "answer @1": any(has[:1]),
        "answer @3": any(has),
        "sentences": result.sentences,
        "ms": 1000 * seconds,
        "ms retrieve": 1000 * times.retrieve if times else 0.0,
        "ms rank": 1000 * times.rank if times else 0.0,
    }


class Watched:
    """A retriever that remembers what it returned."""

    def __init__(self, retriever: Retriever) -> None:
        self.retriever = retriever
        self.texts: list[str] = []

    def retrieve(self, question: str, count: int) -> list[Passage]:
        passages = list(self.retriever.retrieve(question, count))
        self.texts = [normalised(passage.text) for passage in passages]
        return passages


def summary(rows: list[dict[str, float]]) -> dict[str, float]:
    """Percentages of questions, median numbers, and the 95th percentile of the time."""
    shares = {name: round(100 * statistics.mean(row[name] for row in rows), 1) for name in rows[0] if "@" in name}
    names = ("sentences", "ms", "ms retrieve", "ms rank")
    medians = {name: round(statistics.median(row[name] for row in rows), 1) for name in names}
    slow = sorted(row["ms"] for row in rows)[int(0.95 * len(rows))]
    return {**shares, **medians, "ms p95": round(slow, 1)}


if __name__ == "__main__":
    main()
