"""Pruning: the share of the text that is cut, and the share of the answers that stay.

    python benchmarks/prune.py --squad dev-v1.1.json --nq nq-open-gold.json --encoder minilm-l6
    python benchmarks/prune.py --choose train-v1.1.json.gz tydiqa/train.json      # how the defaults were chosen

Files are in SQuAD's layout. A question has its own passage alone, or ten passages: those that BM25 finds first among
all of the file's, its own in the place of the tenth if it is not among them. `answer` is the share of questions for
which the kept part of the right passage contains an annotated answer as whole words, with its 95 % bootstrap interval;
`sentence` is the share whose annotated sentence is kept. Two baselines cut the same share of the text: one keeps the
first sentences of each passage, the other ranks sentences by the cosine of an encoder's embeddings (`--encoder`).

`--choose` sweeps the threshold with and without the sentence before as context, and with and without the rule that a
sentence which begins with a pronoun keeps the one before it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cascada import Ranker
from cascada.ranking import Pruned, PrunedPassage, Ranking, prune
from cascada.ranking.prune import PruneOptions, SplitPassages, pruned, split_passages
from cascada.text.bm25 import BM25Index
from cascada.text.sentences import sentences

LIST = 10
NEVER = re.compile(r"(?!)")
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)


class Example(NamedTuple):
    question: str
    passages: list[str]
    right: int
    answers: list[str]
    starts: list[int]


class Figures(NamedTuple):
    cut: float
    answers: list[bool]
    sentences: list[bool]


def read(path: Path) -> tuple[list[str], list[Example]]:
    """All passages, and the questions with an annotated answer that their passage contains."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    articles = json.loads(content)["data"]
    passages, examples = [], []
    for paragraph in (part for article in articles for part in article["paragraphs"]):
        text = paragraph["context"]
        for asked in paragraph["qas"]:
            answers = [answer for answer in asked["answers"] if answer["text"].strip() and answer["text"] in text]
            texts, starts = [answer["text"] for answer in answers], [answer["answer_start"] for answer in answers]
            if answers:
                examples.append(Example(asked["question"], [text], len(passages), texts, starts))
        passages.append(text)
    return passages, examples


def sample(path: Path, count: int, listed: bool) -> Iterator[Example]:
    passages, examples = read(path)
    random.Random(7).shuffle(examples)
    chosen = [example for example in examples[: 2 * count] if len(sentences(example.passages[0])) > 1][:count]
    index = BM25Index(passages) if listed else None
    for example in chosen:
        if index is None:
            yield example._replace(right=0)
            continue
        first = [int(number) for number in index.best(example.question, LIST)]
        numbers = first if example.right in first else [*first[: LIST - 1], example.right]
        yield example._replace(passages=[passages[number] for number in numbers], right=numbers.index(example.right))


Ranked = list[tuple[SplitPassages, Ranking]]


def ranked(ranker: Ranker, examples: Sequence[Example], context: bool) -> Ranked:
    splits = [split_passages(example.question, example.passages, context=context) for example in examples]
    rankings = ranker.rank_many((split.question, split.candidates) for split in splits)
    return list(zip(splits, rankings, strict=True))


def by_score(rankings: Ranked, threshold: float) -> list[Pruned]:
    options = PruneOptions(min_relative_score=threshold)
    return [pruned(split, ranking, options, len) for split, ranking in rankings]


def by_place(rankings: Ranked, share: float) -> list[Pruned]:
    """The first sentence of each passage, then the second, …, up to this share of the characters of a question."""
    return [_first(result, share) for result in by_score(rankings, 0.0)]


def _first(result: Pruned, share: float) -> Pruned:
    places = sorted((place, passage.index) for passage in result for place in range(len(passage.sentences)))
    left = share * sum(len(sentence.text) for passage in result for sentence in passage.sentences)
    kept = set()
    for place, number in places:
        if left <= 0:
            break
        left -= len(result[number].sentences[place].text)
        kept.add((number, place))
    return replace(result, passages=tuple(_only(passage, kept) for passage in result))


def _only(passage: PrunedPassage, kept: set[tuple[int, int]]) -> PrunedPassage:
    rows = enumerate(passage.sentences)
    return replace(passage, sentences=tuple(replace(one, kept=(passage.index, place) in kept) for place, one in rows))


def figures(examples: Sequence[Example], results: Sequence[Pruned]) -> Figures:
    lengths = [
        (sentence.end - sentence.start, sentence.kept)
        for result in results
        for passage in result
        for sentence in passage.sentences
    ]
    cut = sum(length for length, kept in lengths if not kept) / sum(length for length, _ in lengths)
    answers, labelled = [], []
    for example, result in zip(examples, results, strict=True):
        passage = result[example.right]
        answers.append(any(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", passage.text) for text in example.answers))
        labelled.append(any(one.start <= start < one.end for one in passage.kept for start in example.starts))
    return Figures(cut, answers, labelled)


Way = Callable[[Ranked, float], list[Pruned]]
"""A way to cut; its number, from 0 to 1, sets how much is cut."""


def at_share(examples: Sequence[Example], way: Way, rankings: Ranked, wanted: float) -> Figures:
    """The figures of a way at the setting that cuts closest to the share `wanted` of the text, by bisection."""

    def make(number: float) -> list[Pruned]:
        return way(rankings, number)

    low, high = 0.0, 1.0
    rising = figures(examples, make(1.0)).cut > figures(examples, make(0.0)).cut
    for _ in range(14):
        middle = (low + high) / 2
        more = figures(examples, make(middle)).cut > wanted
        low, high = (low, middle) if more == rising else (middle, high)
    return min((figures(examples, make(end)) for end in (low, high)), key=lambda own: abs(own.cut - wanted))


def line(name: str, own: Figures) -> str:
    draws = np.random.default_rng(7).choice(np.array(own.answers, float), (2000, len(own.answers))).mean(1)
    low, high = np.quantile(draws, (0.025, 0.975))
    answer, sentence = np.mean(own.answers), np.mean(own.sentences)
    return f"  {name:34} {own.cut:6.1%} {answer:7.1%} ({low:.1%} to {high:.1%}) {sentence:7.1%}"


def report(path: Path, options: Any, ranker: Ranker, cosine: Ranker | None) -> None:
    for listed in (False, True):
        examples = list(sample(path, options.questions, listed))
        setting = f"{LIST} passages by BM25" if listed else "its passage alone"
        print(f"{path.name}, {len(examples)} questions, {setting}:   cut  answer  sentence", flush=True)
        rankings = ranked(ranker, examples, ranker.reads_context)
        print(line("nothing cut", figures(examples, by_score(rankings, 0.0))), flush=True)
        own = figures(examples, by_score(rankings, options.threshold))
        print(line(f"prune, {options.threshold:g} of the best score", own), flush=True)
        print(line("first sentences", at_share(examples, by_place, rankings, own.cut)), flush=True)
        if cosine is not None:
            compared = ranked(cosine, examples, False)
            own_cosine = at_share(examples, by_score, compared, own.cut)
            print(line("sentence cosine", own_cosine), flush=True)


def choose(path: Path, count: int, ranker: Ranker) -> None:
    examples = list(sample(path, count, False))
    print(f"{path.name}, {len(examples)} questions, its passage alone:   cut  answer  sentence", flush=True)
    rule = prune._PRONOUN
    for context in (False, True):
        rankings = ranked(ranker, examples, context)
        for pronouns in (False, True):
            prune._PRONOUN = rule if pronouns else NEVER
            name = f"{'context' if context else 'alone':7} {'pronouns' if pronouns else '':8}"
            for threshold in THRESHOLDS:
                print(line(f"{name} {threshold:.2f}", figures(examples, by_score(rankings, threshold))), flush=True)
            at_60 = at_share(examples, by_score, rankings, 0.6)
            print(line(f"{name} at 60 % cut", at_60), flush=True)
    prune._PRONOUN = rule


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--squad", type=Path)
    parser.add_argument("--nq", type=Path)
    parser.add_argument("--choose", type=Path, nargs="+", default=[])
    parser.add_argument("--model")
    parser.add_argument("--encoder", help="the folder of an encoder, for the cosine of its embeddings")
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--threshold", type=float, default=prune.RELATIVE)
    options = parser.parse_args()
    ranker = Ranker.load(options.model)
    for path in options.choose:
        choose(path, options.questions, ranker)
    cosine = Ranker.load(f"cosine:{options.encoder}") if options.encoder else None
    for path in filter(None, (options.squad, options.nq)):
        report(path, options, ranker, cosine)


if __name__ == "__main__":
    main()
