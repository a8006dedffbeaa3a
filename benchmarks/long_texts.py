"""Long texts: reading them in windows compared with truncating them, on passages of about 400 words.

    python benchmarks/long_texts.py --squad dev-v1.1.json --nq nq-open-gold.json --stackexchange stackexchange.jsonl.gz

Neighbouring paragraphs of SQuAD's articles and passages of Natural Questions are joined to about 400 words;
StackExchange's answers of 300 words and more are taken as they are. A question is ranked with the right passage and the
others that BM25 finds first. Printed are MAP and nDCG@10, the operations that the ranker counts and the seconds, both
relative to truncating at 128 tokens. All ways rank a question before the next one is ranked, so that other load on the
machine affects them alike; `--window 64 254` tries windows of other sizes.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cascada import Ranker
from cascada.data import load
from cascada.metrics import evaluate
from cascada.ranking import long_texts

WORDS = 400
LEAST_WORDS = 300

Question = tuple[str, int]
"""A question and the number of its passage."""


def joined(paragraphs: Sequence[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """Join neighbouring paragraphs, each with its questions, until they have about 400 words."""
    texts: list[str] = []
    questions: list[str] = []
    for text, asked in paragraphs:
        texts.append(text)
        questions += asked
        if len(" ".join(texts).split()) >= WORDS:
            yield "\n".join(texts), questions
            texts, questions = [], []


def squad_set(path: Path) -> tuple[list[str], list[Question]]:
    """Passages joined within an article; articles of one paragraph each are joined with their neighbours."""
    articles = json.loads(path.read_text())["data"]
    paragraphs = [
        [(part["context"], [qa["question"] for qa in part["qas"]]) for part in article["paragraphs"]]
        for article in articles
    ]
    if statistics.fmean(map(len, paragraphs)) < 2:
        paragraphs = [[part for article in paragraphs for part in article]]
    passages, questions = [], []
    for article in paragraphs:
        for text, asked in joined(article):
            questions += [(question, len(passages)) for question in asked]
            passages.append(text)
    return passages, questions


def answers_set(path: Path) -> tuple[list[str], list[Question]]:
    """Long answers, each the passage of its question."""
    passages, questions = [], []
    for group in load(str(path), mode="raw"):
        for candidate in group.candidates:
            if candidate.label and len(candidate.text.split()) >= LEAST_WORDS:
                questions.append((group.question, len(passages)))
                passages.append(candidate.text)
                break
    return passages, questions


def lists(
    passages: list[str], questions: list[Question], count: int, size: int
) -> Iterator[tuple[str, list[str], int]]:
    """Some questions with the passages that BM25 finds first, the right one among them, in any order."""
    bm25 = Ranker.load("bm25", texts=passages)
    chosen = random.Random(7).sample(questions, min(count, len(questions)))
    for question, right in chosen:
        first = [item.index for item in bm25.rank(question, passages, top=size)]
        numbers = first if right in first else [*first[:-1], right]
        random.Random(question).shuffle(numbers)
        yield question, [passages[number] for number in numbers], numbers.index(right)


def systems(windows: Sequence[int]) -> dict[str, dict[str, Any]]:
    """The ways to rank, by name; `window` is the size of windows."""
    ways: dict[str, dict[str, Any]] = {
        "first, 128 tokens": {"long": "first", "max_tokens": 128},
        "first": {"long": "first"},
    }
    ways |= {f"best, windows of {size}": {"long": "best", "window": size} for size in windows}
    return ways | {"best, all windows to the end": {"long": "best", "window": windows[0], "drop": 0}}


def ranked(ranker: Ranker, question: str, texts: list[str], window: int = long_texts.WINDOW, **options: Any) -> Any:
    long_texts.WINDOW = window
    started = time.perf_counter()
    ranking = ranker.rank(question, texts, **options)
    return ranking, time.perf_counter() - started


def measure(ranker: Ranker, data: Any, ways: dict[str, dict[str, Any]]) -> Iterator[str]:
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in ways}
    flops: dict[str, list[int]] = {name: [] for name in ways}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    labels = {}
    for number, (question, texts, right) in enumerate(data):
        labels[str(number)] = {str(right): 1}
        for name, way in ways.items():
            ranking, took = ranked(ranker, question, texts, **way)
            runs[name][str(number)] = {str(item.index): -float(place) for place, item in enumerate(ranking)}
            flops[name].append(ranking.flops)
            seconds[name].append(took)
    base = next(iter(ways))
    for name in ways:
        means = evaluate(runs[name], labels, ("MAP", "nDCG@10")).mean
        cost = sum(flops[name]) / sum(flops[base])
        slower = float(np.median(np.array(seconds[name]) / np.array(seconds[base])))
        yield f"  {name:30} {means['MAP']:.3f} {means['nDCG@10']:.3f} {cost:7.2f} {slower:7.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    builders: dict[str, Callable[[Path], tuple[list[str], list[Question]]]]
    builders = {"squad": squad_set, "nq": squad_set, "stackexchange": answers_set}
    for name in builders:
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--window", type=int, nargs="+", default=[long_texts.WINDOW])
    options = parser.parse_args()
    ranker = Ranker.load(options.model)
    for name, build in builders.items():
        path = getattr(options, name)
        if path is None:
            continue
        passages, questions = build(path)
        words = statistics.fmean(len(passage.split()) for passage in passages)
        print(f"{name}: {len(passages)} passages of {words:.0f} words;   MAP nDCG@10  operations  seconds", flush=True)
        data = lists(passages, questions, options.questions, options.candidates)
        for line in measure(ranker, data, systems(options.window)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
