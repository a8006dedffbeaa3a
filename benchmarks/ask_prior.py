"""What the search engine's score adds to `ask`: how often the first answer is correct, for several weights of `prior`.

    python benchmarks/ask_prior.py DATA.json [DATA.json …] [--questions 200] [--weights 0,0.5,1,2,4] [--model MODEL]

DATA is in SQuAD's layout. All of its paragraphs are searched for every question, with BM25 in memory; a sentence is
correct if it contains an answer and is in the question's own paragraph. A weight is chosen on every second question
and checked on the others. Scores are computed once, and every weight is applied to them.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path

from tables import markdown

from cascada import Ranker
from cascada.data.spans import read_paragraphs
from cascada.search import Asker, MemoryRetriever, Passage

TOP = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--weights", default="0,0.25,0.5,1,1.5,2,3,4")
    parser.add_argument("--model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    weights = [float(weight) for weight in options.weights.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        ranker = Ranker.load(options.model, cache=Path(folder) / "cache")
        rows = [row for file in options.data for row in measured(file, ranker, weights, options)]
    print(json.dumps(rows, indent=2) if options.json else markdown(rows, {name: name for name in rows[0]}))


def measured(file: Path, ranker: Ranker, weights: list[float], options: argparse.Namespace) -> list[dict[str, object]]:
    """P@1 and MRR for each weight, on the questions to choose on and on those to check on."""
    passages, asked = read(file)
    random.Random(options.seed).shuffle(asked)
    asker = Asker(MemoryRetriever(passages), ranker)
    places = {weight: [] for weight in weights}
    for question, document, answers in asked[: options.questions]:
        for weight in weights:
            ranked = asker.ask(question, top=TOP, prior=weight)
            correct = [item.document == document and any(text in item.text for text in answers) for item in ranked]
            places[weight].append(correct.index(True) + 1 if any(correct) else 0)
            ranker.cache.entries.flush()  # type: ignore[union-attr]
    return [row(file.name, weight, own) for weight, own in places.items()]


def row(name: str, weight: float, places: list[int]) -> dict[str, object]:
    cells: dict[str, object] = {"data": name, "weight": weight}
    for half, ranks in (("choose", places[::2]), ("check", places[1::2])):
        cells[f"P@1, {half}"] = round(sum(rank == 1 for rank in ranks) / len(ranks), 4)
        cells[f"MRR@{TOP}, {half}"] = round(sum(1 / rank for rank in ranks if rank) / len(ranks), 4)
    return cells


def read(file: Path) -> tuple[list[Passage], list[tuple[str, str, set[str]]]]:
    """The paragraphs, each a document of its own, and the questions with their paragraph and answers."""
    passages, asked = [], []
    for number, paragraph in enumerate(read_paragraphs(file)):
        name = f"{number}/{paragraph.title}.txt"
        passages.append(Passage(paragraph.text, name, 0, len(paragraph.text)))
        for question in paragraph.questions:
            answers = {answer.text for answer in question.answers}
            if answers:
                asked.append((question.text, name, answers))
    return passages, asked


if __name__ == "__main__":
    main()
