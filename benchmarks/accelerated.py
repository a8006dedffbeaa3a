"""What `cascada accelerate` gains and costs: a cross-encoder before and after, on test sets that it has not seen.

    python benchmarks/accelerated.py lists squad/dev-v1.1.json LISTS --questions 200
    cascada accelerate MODEL LISTS/questions.txt OUT --corpus LISTS/sentences.txt --candidates 150
    python benchmarks/accelerated.py measure MODEL OUT wikiqa=WIKIQA trecqa=TRECQA --candidates 150

`lists` writes questions and the sentences of their articles, without labels. `measure` extends the candidates of every
test question by the sentences of the whole set that BM25 ranks first, so that lists are as long as a search engine's;
the added candidates count as incorrect. It ranks every list with the model and with its cascade, by the saved plan, in
torch and in int8. All of them take turns at every question, so that other load on the machine affects them alike.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tables import markdown

from cascada import Ranker
from cascada.data import Candidate, Group, Run, load, qrels
from cascada.data.sample import evenly_spaced
from cascada.data.spans import read_paragraphs
from cascada.metrics import evaluate
from cascada.ranking.runs import run_scores
from cascada.systems.export import export
from cascada.text.bm25 import BM25Index
from cascada.text.sentences import sentences

BEFORE = "the model, torch"


def write_lists(squad: Path, out: Path, questions: int, seed: int) -> None:
    """Write a sample of the questions to `questions.txt`, and the sentences of all articles to `sentences.txt`."""
    paragraphs = list(read_paragraphs(squad))
    asked = list(dict.fromkeys(" ".join(q.text.split()) for paragraph in paragraphs for q in paragraph.questions))
    texts = dict.fromkeys(" ".join(s.text.split()) for paragraph in paragraphs for s in sentences(paragraph.text))
    out.mkdir(parents=True, exist_ok=True)
    chosen = random.Random(seed).sample(asked, min(questions, len(asked)))
    for name, lines in (("questions.txt", chosen), ("sentences.txt", list(texts))):
        (out / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def filled_up(groups: Sequence[Group], candidates: int) -> list[Group]:
    """The groups extended to at least this many `candidates`, of which the added ones are labelled incorrect."""
    texts = list(dict.fromkeys(text for group in groups for text in group.texts))
    index = BM25Index(texts)
    longer = []
    for group in groups:
        own = set(group.texts)
        others = [texts[place] for place in index.best(group.question, 2 * candidates) if texts[place] not in own]
        missing = max(0, candidates - len(group.candidates))
        added = (Candidate(text, 0, f"added-{place}") for place, text in enumerate(others[:missing]))
        longer.append(Group(group.question, (*group.candidates, *added), group.id))
    return longer


@dataclass
class Measured:
    """The rankings of one set by one ranker."""

    run: Run = field(default_factory=dict)
    first: list[int] = field(default_factory=list)
    """The place of each list's first candidate."""
    seconds: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)

    def rank(self, ranker: Ranker, group: Group) -> None:
        started = time.perf_counter()
        ranking = ranker.rank(group.question, group.texts)
        self.seconds.append(time.perf_counter() - started)
        self.first.append(ranking[0].index)
        self.cost.append(ranking.relative_cost)
        ids = [str(group.candidates[item.index].id) for item in ranking]
        self.run[str(group.id)] = dict(zip(ids, run_scores(ranking), strict=True))


def measure(rankers: dict[str, Ranker], groups: Sequence[Group]) -> list[dict[str, object]]:
    """A row for each ranker."""
    measured = {name: Measured() for name in rankers}
    for ranker in rankers.values():
        ranker.rank(groups[0].question, groups[0].texts)  # the first ranking of an engine takes longer
    for group in groups:
        for name, ranker in rankers.items():
            measured[name].rank(ranker, group)
    before = measured[BEFORE]
    return [_row(name, own, before, groups) for name, own in measured.items()]


def _row(name: str, own: Measured, before: Measured, groups: Sequence[Group]) -> dict[str, object]:
    figures = evaluate(own.run, qrels(groups), ("MAP", "P@1")).mean
    return {
        "ranker": name,
        **figures,
        "same first": statistics.fmean(a == b for a, b in zip(own.first, before.first, strict=True)),
        "cost": statistics.fmean(own.cost),
        "seconds": statistics.median(own.seconds),
        "faster": statistics.median(b / a for a, b in zip(own.seconds, before.seconds, strict=True)),
    }


def compare(options: argparse.Namespace) -> dict[str, object]:
    """Every set's table, by the set's name."""
    with tempfile.TemporaryDirectory() as work:
        folders = {BEFORE: options.model, "its cascade, torch": options.out}
        for name, source in (("model", options.model), ("cascade", options.out)):
            export(source, Path(work) / name, "int8")
            folders[f"{'the' if name == 'model' else 'its'} {name}, int8"] = Path(work) / name
        rankers = {name: Ranker.load(folder) for name, folder in folders.items()}
        results: dict[str, object] = {}
        for data in options.sets:
            name, _, root = data.partition("=")
            groups = load(name, root=root or None, split="test" if root else None, mode="clean")
            longer = evenly_spaced(filled_up(groups, options.candidates), options.questions)
            lengths = statistics.fmean(len(group.candidates) for group in longer)
            results[name] = {"questions": len(longer), "candidates": lengths, "rows": measure(rankers, longer)}
        return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    lists = commands.add_parser("lists")
    lists.add_argument("squad", type=Path)
    lists.add_argument("out", type=Path)
    lists.add_argument("--questions", type=int, default=200)
    lists.add_argument("--seed", type=int, default=7)
    both = commands.add_parser("measure")
    both.add_argument("model", type=Path, help="the cross-encoder as it came")
    both.add_argument("out", type=Path, help="what `cascada accelerate` made of it")
    both.add_argument("sets", nargs="+", help="NAME=ROOT of a data set, or a file of JSONL")
    both.add_argument("--candidates", type=int, default=150)
    both.add_argument("--questions", type=int, help="at most so many of each set")
    both.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.command == "lists":
        write_lists(options.squad, options.out, options.questions, options.seed)
        return
    results = compare(options)
    if options.json:
        print(json.dumps(results))
        return
    for name, result in results.items():
        print(f"\n{name}: {result['questions']} questions, {result['candidates']:.0f} candidates on average\n")
        print(markdown(result["rows"], {key: key for key in result["rows"][0]}))


if __name__ == "__main__":
    main()
