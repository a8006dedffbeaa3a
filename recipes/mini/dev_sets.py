"""The development sets of the bundled model: lists of questions that it is not trained on.

    python recipes/mini/dev_sets.py data data/mini/dev

reads the folders in `data` (README.md names them) and writes one JSONL file per set. Where a data set has no candidates
of its own, the wrong ones are the first of BM25.

| set | questions | candidates |
|---|---|---|
| `dl21-bm25`, `dl21-splade` | 53 web queries of TREC Deep Learning 2021, graded | 100 passages of the first stage |
| `insuranceqa` | 200 of InsuranceQA's valid questions | one right answer, 49 wrong ones |
| `selqa`, `trecqa`, `wikiqa` | the clean test sets | sentences, as distributed |
| `trecqa-long`, `trecqa-long-tune` | 73 questions of TREC-QA's train-all, and 60 others to tune on | 100 and more |
| `tydi` | 150 of TyDi QA's dev questions | the right passage, and BM25's first 50 of a Wikipedia pool |
| `stackexchange` | 150 questions of forums | their own answers and other answers, 50 in all |
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cascada.data import Candidate, Group, load, write_jsonl
from cascada.data.sample import sample
from cascada.data.spans import read_paragraphs
from cascada.text.bm25 import BM25Index
from cascada.text.words import normalise

SEED = 19
HELD_OUT = Path(__file__).parent / "forum_held_out.txt"
"""The ids of the forum questions that no training list may contain."""


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a JSONL file, gzipped or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def graded(data: Path, first_stage: str) -> Iterator[Group]:
    """TREC-DL 2021: the first 100 passages of a first stage, with their grades from 0 to 3."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (data / "trec_dl21/qrels.txt").read_text().splitlines():
        question, _, passage, grade = line.split()
        grades[question][passage] = int(grade)
    for group in load(str(data / f"trec_dl21/{first_stage}-top100.jsonl"), mode="raw"):
        graded_ids = grades[str(group.id)]
        yield Group(
            group.question,
            tuple(
                Candidate(passage.text, passage.label, passage.id, relevance=graded_ids.get(str(passage.id), 0))
                for passage in group.candidates
            ),
            group.id,
        )


def insurance(data: Path, draw: random.Random) -> Iterator[Group]:
    with gzip.open(data / "insuranceqa/answers.json.gz", "rt", encoding="utf-8") as file:
        texts: dict[str, str] = json.load(file)
    names = list(texts)
    index = BM25Index(texts.values())
    for record in draw.sample(list(records(data / "insuranceqa/valid.jsonl.gz")), 200):
        right = set(record["positives"])
        found = (names[number] for number in index.best(record["question"], 100))
        wrong = [name for name in dict.fromkeys((*record["negatives"], *found)) if name not in right][:49]
        candidates = [Candidate(texts[name], int(name in right), name) for name in (record["positives"][0], *wrong)]
        yield shuffled(record["id"], record["question"], candidates, draw)


def tydi(data: Path, draw: random.Random) -> Iterator[Group]:
    pool = {record["id"]: record["text"] for record in records(data / "wikipedia_pool/passages.jsonl.gz")}
    names = list(pool)
    index = BM25Index(pool.values())
    asked = {
        question.text: (question.id, paragraph.text)
        for paragraph in read_paragraphs(data / "tydiqa/dev.json")
        for question in paragraph.questions
    }
    for question, (name, passage) in draw.sample(sorted(asked.items()), 150):
        opening = normalise(passage)[:60]
        found = [names[number] for number in index.best(question, 50)]
        wrong = [Candidate(pool[id_], 0, id_) for id_ in found if normalise(pool[id_])[:60] != opening]
        yield shuffled(name, question, [Candidate(passage, 1, f"right-{name}"), *wrong], draw)


def held_out_forum(data: Path) -> list[Group]:
    """The forum questions that are held out from training, in the order of the list."""
    groups = {group.id: group for group in load(str(data / "stackexchange/answers.jsonl.gz"), mode="raw")}
    return [groups[name] for name in HELD_OUT.read_text(encoding="utf-8").split()]


def forum(data: Path, draw: random.Random) -> Iterator[Group]:
    groups = held_out_forum(data)
    answers = [(f"{group.id}:{one.id}", one.text, group.id) for group in groups for one in group.candidates]
    index = BM25Index(text for _, text, _ in answers)
    with_answer = [group for group in groups if any(group.labels)]
    for group in with_answer[:150]:
        right = [Candidate(one.text, 1, f"{group.id}:{one.id}") for one in group.candidates if one.label]
        found = (answers[number] for number in index.best(group.question, 100))
        wrong = [Candidate(text, 0, name) for name, text, own in found if own != group.id][: 50 - len(right)]
        yield shuffled(str(group.id), group.question, right + wrong, draw)


def long_lists(data: Path, *, tune: bool) -> list[Group]:
    """TREC-QA's long lists: 60 to tune on, or all others."""
    groups = load("trecqa", root=data / "trecqa", split="train-all", mode="clean")
    long = [group for group in groups if len(group.candidates) >= 100]
    drawn = {group.id for group in sample(long, 60, lambda group: group.question)}
    return [group for group in long if (group.id in drawn) == tune]


def shuffled(name: str, question: str, candidates: list[Candidate], draw: random.Random) -> Group:
    return Group(question, tuple(draw.sample(candidates, len(candidates))), name)


def sets(data: Path) -> Iterator[tuple[str, Iterable[Group]]]:
    """Each set's name and its questions."""
    draw = random.Random(SEED)
    for first_stage in ("bm25", "splade"):
        yield f"dl21-{first_stage}", graded(data, first_stage)
    for name in ("selqa", "trecqa", "wikiqa"):
        yield name, load(name, root=data / name, split="test", mode="clean")
    yield "insuranceqa", insurance(data, draw)
    yield "stackexchange", forum(data, draw)
    yield "tydi", tydi(data, draw)
    for name in ("trecqa-long", "trecqa-long-tune"):
        yield name, long_lists(data, tune=name.endswith("tune"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, groups in sets(options.data):
        count = write_jsonl(groups, options.out / f"{name}.jsonl")
        print(f"{name}: {count} questions", flush=True)


if __name__ == "__main__":
    main()
