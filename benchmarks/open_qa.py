"""Retrieve, rerank, read: compare rerankers as in the tables and Figure 2 of the DC-BERT paper.

    python benchmarks/open_qa.py openqa-test.jsonl cross=runs/cross int8=runs/cross-int8 dc=runs/dc@dc.store bm25 \\
        --answers openqa-test.json --reader runs/reader --pool openqa-pool.jsonl --picture open-qa.png

The groups are what the first stage retrieved for each question, best first, as `cascada data openqa` writes them. A
reranker is NAME=MODEL or just MODEL, anything that `Ranker.load` takes. MODEL@STORE reads stored encodings; MODEL~0.5
and MODEL@STORE~0.8,0.5 drop these shares at the exits of a cascade. Speed-up is relative to the first reranker. Each
question is ranked by all rerankers before the next one, so that other work on the machine affects them equally; the
first question is also ranked once before, as a warm-up. The reader reads the first documents of each reranker, and the
best span of them all is the answer. Without --reader there is no EM.

With `--rankings FILE` the rankings are kept in a file, and a reranker that the file has for the same questions does not
rank again: so a reader or another reranker can be added later. Times are then those of the run that ranked.
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
from cascada.data.sample import evenly_spaced
from cascada.data.spans import read_paragraphs
from cascada.metrics import answer_scores, evaluate, open_qa_scores
from cascada.ranking import Ranker
from cascada.ranking.plan import Drop
from cascada.reading import Reader, Span
from cascada.search import MemoryRetriever, Passage
from cascada.systems.load import split_store
from cascada.training.precision import products_in

RANKED = ("order", "run", "seconds", "processor", "stages")
"""What `--rankings` keeps of a reranker."""


@dataclass
class Reranked:
    """The rankings, answers and times of one reranker."""

    name: str
    ranker: Ranker | None = None
    """None for the first stage's own order."""
    model: str = ""
    drop: Drop = None
    order: dict[str, list[str]] = field(default_factory=dict)
    run: dict[str, dict[str, float]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    processor: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    ranked: bool = False
    """Whether the rankings are those of an earlier run."""

    def rank(self, group: Group) -> None:
        if self.ranked:
            return
        ids = [str(candidate.id) for candidate in group.candidates]
        if self.ranker is not None:
            started, cpu_started = time.perf_counter(), time.process_time()
            ranking = self.ranker.rank(group.question, group.texts, drop=self.drop)
            self.seconds += time.perf_counter() - started
            self.processor += time.process_time() - cpu_started
            for place, stage in enumerate(ranking.stages, 1):
                name = f"{place} (exit {stage.exit})"
                self.stages[name] = self.stages.get(name, 0.0) + stage.seconds
            ids = [ids[item.index] for item in ranking]
        self.order[str(group.id)] = ids
        self.run[str(group.id)] = {name: float(-place) for place, name in enumerate(ids)}


def keep_rankings(path: Path, models: list[Reranked]) -> None:
    """Add each reranker's rankings and times to the file; those of other rerankers stay in it."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    for model in models:
        kept[model.name] = {name: getattr(model, name) for name in RANKED}
    path.write_text(json.dumps(kept))


def take_rankings(path: Path, models: list[Reranked], groups: list[Group]) -> None:
    """Take over the rankings of rerankers for which the file has these questions."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    asked = {str(group.id) for group in groups}
    for model in models:
        before = kept.get(model.name)
        if before and before["order"].keys() == asked:
            for name in RANKED:
                setattr(model, name, before[name])
            model.ranked = True


def parse_reranker(text: str) -> Reranked:
    name, _, model = text.rpartition("=")  # an earlier = may be part of the name: K=1=runs/dc
    model, _, drop = model.partition("~")
    folder, store = split_store(model)
    return Reranked(name or Path(folder).name, load_ranker(folder, store), model, ratios(drop or None))


@cache
def load_ranker(folder: str, store: str | None) -> Ranker:
    return Ranker.load(folder, store=store)


@dataclass
class CachingReader:
    """A reader that reads each document for a question only once, however many rerankers keep it."""

    reader: Reader
    known: dict[tuple[str, str], Span | None] = field(default_factory=dict)
    documents: int = 0
    seconds: float = 0.0

    def answer(self, group: Group, ids: list[str]) -> str:
        """The best span in these documents."""
        texts = {str(candidate.id): candidate.text for candidate in group.candidates}
        new = [id_ for id_ in ids if (str(group.id), id_) not in self.known]
        started = time.perf_counter()
        spans = {span.document: span for span in self.reader.read(group.question, [texts[id_] for id_ in new])}
        self.seconds += time.perf_counter() - started
        self.documents += len(new)
        self.known |= {(str(group.id), id_): spans.get(index) for index, id_ in enumerate(new)}
        known = [span for id_ in ids if (span := self.known[str(group.id), id_])]
        return max(known, key=lambda span: span.score).text if known else ""


def rows(models: list[Reranked], groups: list[Group], correct: dict[str, Any] | None, n: int) -> list[dict[str, Any]]:
    holding = {str(group.id): {str(c.id) for c in group.candidates if c.label} for group in groups}
    first_stage = {str(group.id): [str(c.id) for c in group.candidates] for group in groups}
    table: list[dict[str, Any]] = []
    for model in models:
        row: dict[str, Any] = {"reranker": model.name, "model": model.model, "drop": model.drop}
        row |= open_qa_scores(model.order, first_stage, holding, n)
        row["MAP"] = evaluate(model.run, qrels(groups), ["MAP"]).mean["MAP"]
        if correct is not None:
            row |= answer_scores(model.answers, correct)
            best = table[0]["EM"] if table else row["EM"]
            row["EM drop %"] = 100 * (best - row["EM"]) / best if best else 0.0
        row["seconds"] = model.seconds / len(groups)
        row["speed-up"] = models[0].seconds / model.seconds if model.seconds else None
        row["processor seconds"] = model.processor / len(groups)
        row["stages"] = {name: seconds / len(groups) for name, seconds in model.stages.items()}
        row["P@N"] = {cut: open_qa_scores(model.order, first_stage, holding, cut)[f"P@{cut}"] for cut in CURVE}
        table.append(row)
    return table


def retrieval(pool: Path, groups: list[Group], scoring: str) -> float:
    """Seconds per question."""
    paragraphs = [json.loads(line) for line in pool.read_text(encoding="utf-8").splitlines()]
    retriever = MemoryRetriever(
        [Passage(line["text"], line["id"], 0, len(line["text"])) for line in paragraphs], scoring=scoring
    )
    started = time.perf_counter()
    for group in groups:
        retriever.retrieve(group.question, 80)
    return (time.perf_counter() - started) / len(groups)


def table(rows: list[dict[str, Any]], n: int) -> str:
    shares = [name for name in (f"P@{n}", f"PBT@{n}", f"PTB@{n}", "EM", "F1", "MAP") if name in rows[0]]
    names = ["reranker", *shares, *(["EM drop %"] if "EM" in rows[0] else []), "seconds", "speed-up"]
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for row in rows:
        cells = [row["reranker"], *(f"{100 * row[name]:.1f}" for name in shares)]
        cells += [f"{row['EM drop %']:.1f}"] if "EM" in row else []
        cells += [f"{row['seconds']:.3f}", "" if row["speed-up"] is None else f"{row['speed-up']:.1f}×"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", type=Path)
    parser.add_argument("rerankers", nargs="+", metavar="[NAME=]MODEL[@STORE][~DROP]")
    parser.add_argument("--answers", type=Path, help="the questions' answers, in SQuAD's format; required by --reader")
    parser.add_argument("--reader", type=Path)
    parser.add_argument("--pool", type=Path, help="time the first stage on these paragraphs")
    parser.add_argument("--scoring", default="tfidf", help="scoring of the first stage")
    parser.add_argument("--keep", type=int, default=10, help="documents to read")
    parser.add_argument("--questions", type=int, help="use this many questions, spread evenly over the file")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--bfloat16", action="store_true", help="products of trained rankers in 16 bits; not for times")
    parser.add_argument("--rankings", type=Path, help="keep rankings in this file, and take over those that it has")
    options = parser.parse_args()
    if options.reader and not options.answers:
        parser.error("--reader needs --answers")
    groups = evenly_spaced(load(options.groups), options.questions)  # the file is ordered by article
    models = [*map(parse_reranker, options.rerankers), Reranked(FIRST_STAGE)]
    reader = CachingReader(Reader.load(options.reader)) if options.reader else None
    if options.rankings:
        take_rankings(options.rankings, models[:-1], groups)
    with products_in("bfloat16" if options.bfloat16 else "float32"):
        for model in models[:-1]:
            if not model.ranked:
                model.ranker.rank(groups[0].question, groups[0].texts)
        for group in shown(groups, "questions", total=len(groups), unit="questions"):
            for model in models:
                model.rank(group)
                if reader:
                    model.answers[str(group.id)] = reader.answer(group, model.order[str(group.id)][: options.keep])
    if options.rankings:
        keep_rankings(options.rankings, models[:-1])
    correct = None
    if reader:
        known = [question for paragraph in read_paragraphs(options.answers) for question in paragraph.questions]
        asked = {str(group.id) for group in groups}
        correct = {question.id: question.answer_texts for question in known if question.id in asked}
    results = {"questions": len(groups), "rows": rows(models, groups, correct, options.keep)}
    if options.pool:
        results["retrieve seconds"] = retrieval(options.pool, groups, options.scoring)
    if reader:
        results["read seconds"] = options.keep * reader.seconds / reader.documents
    if options.picture:
        draw(results["rows"], options.picture)
    if options.json:
        print(json.dumps(results, indent=1))
        return
    print(table(results["rows"], options.keep))
    times = [f"{name} {results[name]:.3f}" for name in ("retrieve seconds", "read seconds") if name in results]
    print("\n" + ", ".join([f"{len(groups)} questions", *(f"{timing} per question" for timing in times)]))


if __name__ == "__main__":
    main()
