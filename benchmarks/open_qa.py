"""Retrieve, rerank, read: rerankers side by side, in the layout of the DC-BERT paper's tables and its Figure 2.

    python benchmarks/open_qa.py openqa-test.jsonl cross=runs/cross int8=runs/cross-int8 dc=runs/dc@dc.store bm25 \\
        --answers openqa-test.json --reader runs/reader --pool openqa-pool.jsonl --picture open-qa.png

The groups are what the first stage found for each question, best first, as `cascada data openqa` writes them. A
reranker is NAME=MODEL, or the model alone: anything `Ranker.load` takes; MODEL@STORE reads cached encodings, and a
cascade MODEL~0.5 or MODEL@STORE~0.8,0.5 drops these shares at its exits, one after each. Speed-up is
over the first one named. Every question goes through all rerankers before the next one does, so that whatever else
the machine is doing meets them alike; the first question is ranked once more, before the clock starts. The reader reads
the first documents of each reranker, and the likeliest span of all is the answer. Without --reader there is no EM.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from open_qa_picture import CURVE, FIRST_STAGE, draw

from cascada.cli.options import ratios
from cascada.cli.progress import shown
from cascada.data import Group, load, qrels
from cascada.data.spans import read_paragraphs
from cascada.metrics import answer_scores, evaluate, open_qa_scores
from cascada.ranking import Ranker
from cascada.ranking.plan import Drop
from cascada.reading import Reader, Span
from cascada.search import MemoryRetriever, Passage


@dataclass
class Reranked:
    """What one reranker made of all questions."""

    name: str
    ranker: Ranker | None = None
    """None: the first stage's own order."""
    model: str = ""
    drop: Drop = None
    order: dict[str, list[str]] = field(default_factory=dict)
    run: dict[str, dict[str, float]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    processor: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)

    def rank(self, group: Group) -> None:
        ids = [str(candidate.id) for candidate in group.candidates]
        if self.ranker is not None:
            started, worked = time.perf_counter(), time.process_time()
            ranking = self.ranker.rank(group.question, group.texts, drop=self.drop)
            self.seconds += time.perf_counter() - started
            self.processor += time.process_time() - worked
            for place, stage in enumerate(ranking.stages, 1):
                name = f"{place} (exit {stage.exit})"
                self.stages[name] = self.stages.get(name, 0.0) + stage.seconds
            ids = [ids[item.index] for item in ranking]
        self.order[str(group.id)] = ids
        self.run[str(group.id)] = {name: float(-place) for place, name in enumerate(ids)}


def reranker(text: str) -> Reranked:
    name, _, model = text.rpartition("=")  # the first may belong to a name: K=1=runs/dc
    model, _, drop = model.partition("~")
    folder, _, store = model.partition("@")
    return Reranked(name or Path(folder).name, loaded(folder, store), model, ratios(drop or None))


@cache
def loaded(folder: str, store: str) -> Ranker:
    return Ranker.load(folder, store=store) if store else Ranker.load(folder)


@dataclass
class ReadOnce:
    """A reader that reads a document for a question once, whichever rerankers keep it."""

    reader: Reader
    known: dict[tuple[str, str], Span | None] = field(default_factory=dict)
    documents: int = 0
    seconds: float = 0.0

    def answer(self, group: Group, ids: list[str]) -> str:
        """The likeliest span of these documents."""
        texts = {str(candidate.id): candidate.text for candidate in group.candidates}
        new = [one for one in ids if (str(group.id), one) not in self.known]
        started = time.perf_counter()
        spans = {span.document: span for span in self.reader.read(group.question, [texts[one] for one in new])}
        self.seconds += time.perf_counter() - started
        self.documents += len(new)
        self.known |= {(str(group.id), one): spans.get(place) for place, one in enumerate(new)}
        found = [span for one in ids if (span := self.known[str(group.id), one])]
        return max(found, key=lambda span: span.score).text if found else ""


def spread(groups: list[Group], questions: int | None) -> list[Group]:
    """Groups follow one another by article: the first ones are not like all."""
    count = min(questions or len(groups), len(groups))
    return [groups[place * len(groups) // count] for place in range(count)]


def rows(models: list[Reranked], groups: list[Group], correct: dict[str, Any] | None, n: int) -> list[dict[str, Any]]:
    holding = {str(one.id): {str(c.id) for c in one.candidates if c.label} for one in groups}
    first_stage = {str(one.id): [str(c.id) for c in one.candidates] for one in groups}
    found = []
    for model in models:
        row: dict[str, Any] = {"reranker": model.name, "model": model.model, "drop": model.drop}
        row |= open_qa_scores(model.order, first_stage, holding, n)
        row["MAP"] = evaluate(model.run, qrels(groups), ["MAP"]).mean["MAP"]
        if correct is not None:
            row |= answer_scores(model.answers, correct)
            best = found[0]["EM"] if found else row["EM"]
            row["EM drop %"] = 100 * (best - row["EM"]) / best if best else 0.0
        row["seconds"] = model.seconds / len(groups)
        row["speed-up"] = models[0].seconds / model.seconds if model.seconds else None
        row["processor seconds"] = model.processor / len(groups)
        row["stages"] = {name: seconds / len(groups) for name, seconds in model.stages.items()}
        row["P@N"] = {cut: open_qa_scores(model.order, first_stage, holding, cut)[f"P@{cut}"] for cut in CURVE}
        found.append(row)
    return found


def retrieval(pool: Path, groups: list[Group], scoring: str) -> float:
    """Seconds a question."""
    lines = [json.loads(line) for line in pool.read_text(encoding="utf-8").splitlines()]
    retriever = MemoryRetriever(
        [Passage(one["text"], one["id"], 0, len(one["text"])) for one in lines], scoring=scoring
    )
    started = time.perf_counter()
    for group in groups:
        retriever.retrieve(group.question, 80)
    return (time.perf_counter() - started) / len(groups)


def table(found: list[dict[str, Any]], n: int) -> str:
    shares = [name for name in (f"P@{n}", f"PBT@{n}", f"PTB@{n}", "EM", "F1", "MAP") if name in found[0]]
    names = ["reranker", *shares, *(["EM drop %"] if "EM" in found[0] else []), "seconds", "speed-up"]
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for row in found:
        cells = [row["reranker"], *(f"{100 * row[name]:.1f}" for name in shares)]
        cells += [f"{row['EM drop %']:.1f}"] if "EM" in row else []
        cells += [f"{row['seconds']:.3f}", "" if row["speed-up"] is None else f"{row['speed-up']:.1f}×"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", type=Path)
    parser.add_argument("rerankers", nargs="+", metavar="[NAME=]MODEL[@STORE][~DROP]")
    parser.add_argument("--answers", type=Path, help="the questions' answers, in SQuAD's layout; --reader needs them")
    parser.add_argument("--reader", type=Path)
    parser.add_argument("--pool", type=Path, help="time the first stage on these paragraphs")
    parser.add_argument("--scoring", default="tfidf", help="of the first stage")
    parser.add_argument("--keep", type=int, default=10, help="documents that are read")
    parser.add_argument("--questions", type=int, help="only so many, spread evenly over all of them")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.reader and not options.answers:
        parser.error("--reader needs --answers")
    groups = spread(load(options.groups), options.questions)
    models = [*map(reranker, options.rerankers), Reranked(FIRST_STAGE)]
    read = ReadOnce(Reader.load(options.reader)) if options.reader else None
    for model in models[:-1]:
        model.ranker.rank(groups[0].question, groups[0].texts)
    for group in shown(groups, "questions", total=len(groups), unit="questions"):
        for model in models:
            model.rank(group)
            if read:
                model.answers[str(group.id)] = read.answer(group, model.order[str(group.id)][: options.keep])
    correct = None
    if read:
        known = [question for one in read_paragraphs(options.answers) for question in one.questions]
        asked = {str(group.id) for group in groups}
        correct = {question.id: question.answer_texts for question in known if question.id in asked}
    found = {"questions": len(groups), "rows": rows(models, groups, correct, options.keep)}
    if options.pool:
        found["retrieve seconds"] = retrieval(options.pool, groups, options.scoring)
    if read:
        found["read seconds"] = options.keep * read.seconds / read.documents
    if options.picture:
        draw(found["rows"], options.picture)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    print(table(found["rows"], options.keep))
    times = [f"{name} {found[name]:.3f}" for name in ("retrieve seconds", "read seconds") if name in found]
    print("\n" + ", ".join([f"{len(groups)} questions", *(f"{one} a question" for one in times)]))


if __name__ == "__main__":
    main()
