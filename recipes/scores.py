"""Add the mean score of some teachers to every candidate of training lists, for `teacher: {model: data}`.

    python recipes/scores.py data/mini/passages.jsonl data/mini/passages-scored.jsonl \
        late:runs/minilm=1 cosine:runs/gte-small=1 late:runs/gte-small=0.5

Teachers are rankers, each with its weight; RANKER@STORE=1 reads document encodings from a store. Their scores are
standardised among a question's candidates and averaged. Without teachers, the lists are only cut to `--candidates`.
Passages and sentences have teachers of their own: a cross-encoder that learned from sentences ranks passages badly.
Scores are saved as they are computed, in the folder of the output, and a run that was stopped continues.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import replace
from pathlib import Path

from cascada.core.probe import can_run
from cascada.data import Group, load, write_jsonl
from cascada.training.precision import products_in
from cascada.training.settings import TeacherSettings
from cascada.training.teacher import teacher_scores


def shortened(group: Group, most: int, first: int | None, draw: random.Random) -> Group:
    """At most `most` candidates: up to three correct ones, and a sample of the `first` wrong ones."""
    correct = [candidate for candidate in group.candidates if candidate.label][:3]
    wrong = [candidate for candidate in group.candidates if not candidate.label][:first]
    kept = correct + draw.sample(wrong, min(len(wrong), most - len(correct)))
    return replace(group, candidates=tuple(draw.sample(kept, len(kept))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists")
    parser.add_argument("out", type=Path)
    parser.add_argument("teachers", nargs="*", metavar="RANKER=WEIGHT")
    parser.add_argument("--questions", type=int, help="a sample of so many lists")
    parser.add_argument("--candidates", type=int, default=8, help="at most so many of each list")
    parser.add_argument("--wrong", type=int, help="draw wrong candidates from the first so many; from all by default")
    options = parser.parse_intermixed_args()  # teachers may come after the options
    draw = random.Random(3)
    groups = [
        shortened(group, options.candidates, options.wrong, draw)
        for group in load(options.lists, mode="raw", questions=options.questions)
    ]
    if not options.teachers:
        print(f"{write_jsonl(groups, options.out)} lists")
        return
    models = {name: float(weight) for name, weight in (teacher.rsplit("=", 1) for teacher in options.teachers)}
    folder = options.out.with_suffix(".teachers")
    folder.mkdir(parents=True, exist_ok=True)
    with products_in("bfloat16" if can_run("torch bfloat16") else "float32"):
        scores = iter(teacher_scores(TeacherSettings(model=models, level="list"), groups, folder).tolist())
    scored = (
        replace(group, candidates=tuple(replace(own, score=round(next(scores), 4)) for own in group.candidates))
        for group in groups
    )
    print(f"{write_jsonl(scored, options.out)} lists")


if __name__ == "__main__":
    main()
