"""How long exit 0 takes on a long list, and how its tokenising compares with that of `tokenizers`.

    python benchmarks/tokenising.py sentences.txt --candidates 4000

ranks texts of a file, one per line, at exit 0 of a ranker, and tokenises them in both ways, in turn, so that other load
on the machine affects all of them alike. `first` is a word-piece table that has tokenised nothing yet, `again` one that
has tokenised the same texts before, and `others` one that has tokenised other texts, as has the table of `exit 0`. With
`--rank`, the whole ranking without drops, too. Medians in milliseconds.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from cascada import Ranker
from cascada.encoders.late_interaction import ExitZero
from cascada.ranking.stage import NO_DEADLINE, Pairs
from cascada.text.wordpiece import WordPieceTable, encode_whole


def measure(work: dict[str, Callable[[], object]], repeats: int, prepare: Callable[[], None]) -> dict[str, float]:
    """Median milliseconds of each; `prepare` is called before it and not counted."""
    seconds = defaultdict(list)
    for _ in range(repeats):
        for name, call in work.items():
            prepare()
            started = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - started)
    return {name: 1000 * median(times) for name, times in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="a text per line; at least twice as many as candidates")
    parser.add_argument("--model", help="a ranker with exit 0; by default the bundled one")
    parser.add_argument("--question", default="who wrote the first book about the river?")
    parser.add_argument("--candidates", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--rank", action="store_true", help="also rank the texts to the end, without drops")
    options = parser.parse_args()
    lines = options.texts.read_text(encoding="utf-8").splitlines()
    lines = [lines[place] for place in np.random.default_rng(0).permutation(len(lines))]
    texts, others = lines[: options.candidates], lines[options.candidates : 2 * options.candidates]
    ranker = Ranker.load(options.model)
    stage = ranker.stages[0]
    assert isinstance(stage, ExitZero)
    pair_tokenizer: Any = getattr(stage.tokenizer, "document", stage.tokenizer)
    tokenizer = pair_tokenizer.tokenizer
    warm, elsewhere = WordPieceTable(tokenizer), WordPieceTable(tokenizer)
    elsewhere.encode(others)
    known = dict(elsewhere._table)
    pairs = Pairs([options.question], texts, np.zeros(len(texts), np.int64))

    def forget() -> None:
        """Reset both tables to the state in which they have tokenised the other texts only."""
        elsewhere._table, pair_tokenizer._table._table = dict(known), dict(known)
        pair_tokenizer._recent = {}, np.empty(0, np.int32)

    work: dict[str, Callable[[], object]] = {
        "tokenizers": lambda: encode_whole(tokenizer, texts),
        "first": lambda: WordPieceTable(tokenizer).encode(texts),
        "others": lambda: elsewhere.encode(texts),
        "again": lambda: warm.encode(texts),
        "exit 0": lambda: stage.score(pairs, None, NO_DEADLINE),
    }
    if options.rank:
        work["ranking"] = lambda: ranker.rank(options.question, texts, drop=0)
    plain = sum(text.isascii() for text in texts) / len(texts)
    print(f"{len(texts)} texts of {np.mean([len(text) for text in texts]):.0f} characters, {plain:.0%} of them ASCII")
    for name, milliseconds in measure(work, options.repeats, forget).items():
        print(f"{name:>12} {milliseconds:8.1f} ms")


if __name__ == "__main__":
    main()
