"""How many of the correct candidates exit 0 keeps, alone: no layer is run.

    python benchmarks/exit0_recall.py runs/idf runs/learned --data squad.jsonl bm25-top100.jsonl --questions 200

prints, for each ranker and data set, the mean share of a question's correct candidates that is left if 10, 20, 30 and
50 % of its list are kept; with `--without-list-idf`, as if exit 0 did not weigh word pieces by their IDF among the
candidates.
"""

from __future__ import annotations

import argparse

import numpy as np

from cascada import Ranker
from cascada.data import Group, load
from cascada.data.sample import evenly_spaced
from cascada.encoders import late_interaction
from cascada.encoders.late_interaction import ExitZero
from cascada.ranking.executor import best_first
from cascada.ranking.stage import NO_DEADLINE, Pairs

KEPT = "0.1,0.2,0.3,0.5"


def recall(stage: ExitZero, group: Group, kept: list[float]) -> list[float]:
    """The share of the correct candidates among the first, for each share of the list."""
    pairs = Pairs([group.question], group.texts, np.zeros(len(group.texts), np.int64))
    correct = np.array(group.labels)[best_first(stage.score(pairs, None, NO_DEADLINE).scores)] > 0
    return [float(correct[: round(share * len(correct))].sum() / correct.sum()) for share in kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="rankers with exit 0")
    parser.add_argument("--data", nargs="+", required=True, help="files in our own JSONL")
    parser.add_argument("--at-least", type=int, default=0, help="only questions with this many candidates")
    parser.add_argument("--questions", type=int, help="at most so many of each file, spread over it")
    parser.add_argument("--kept", default=KEPT, help="shares of the list to keep")
    parser.add_argument("--without-list-idf", action="store_true", help="without IDF among the candidates")
    options = parser.parse_args()
    kept = [float(share) for share in options.kept.split(",")]
    if options.without_list_idf:
        late_interaction.AMONG_CANDIDATES = 0.0  # as an exponent: every factor is 1
    for path in options.data:
        groups = [group for group in load(path, mode="clean") if len(group.candidates) >= options.at_least]
        groups = evenly_spaced(groups, options.questions)
        print(f"{path}: {len(groups)} questions, kept {', '.join(f'{share:.0%}' for share in kept)}")
        for model in options.models:
            stage = Ranker.load(model).stages[0]
            assert isinstance(stage, ExitZero)
            shares = np.mean([recall(stage, group, kept) for group in groups], 0)
            print(f"  {model}: " + "  ".join(f"{share:.1%}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
