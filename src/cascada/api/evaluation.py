"""Evaluation: rank a data set and measure the ranking."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cascada.api.arguments import Data, LocalPath, OnProgress, count_pairs, load_data, reporting
from cascada.core.errors import CascadaError, require
from cascada.data import Group, Run, qrels, read_run
from cascada.metrics import DEFAULT_MEASURES, Comparison, Evaluation, Measure, compare
from cascada.metrics import evaluate as measure_run
from cascada.ranking import Ranker, Ranking
from cascada.ranking.inputs import RankOptions
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.runs import RunCosts, run_of


@dataclass(frozen=True)
class Evaluated:
    """The result of `evaluate`."""

    title: str
    """What was evaluated, on which data."""
    evaluation: Evaluation
    """The measures of every question."""
    run: Run = field(repr=False)
    """The ranking of every question: question id → candidate id → score; `cascada.data.write_run` writes it."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """`relative_cost`, and for rankers that count operations `flops_share` and `calibration_error`."""
    seconds: float = 0.0
    """Time spent on ranking, including loading the model."""
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)
    """For each measure, the comparison with the run given as `against`."""

    @property
    def measures(self) -> dict[str, float]:
        """Each measure, averaged over the questions."""
        return self.evaluation.mean

    @property
    def questions(self) -> int:
        """The number of questions."""
        return self.evaluation.questions

    def to_dict(self) -> dict[str, Any]:
        """The result as `cascada evaluate --json` prints it."""
        content = {**self.measures, "questions": self.questions, "seconds": round(self.seconds, 3), **self.costs}
        keys = ("difference", "t_p", "randomisation_p")
        against = {name: {key: getattr(test, key) for key in keys} for name, test in self.comparisons.items()}
        return {**content, "against": against} if against else content


def evaluate(
    model: LocalPath | Ranker,
    data: Data,
    *,
    root: LocalPath | None = None,
    split: str | None = None,
    mode: str = "clean",
    measures: Sequence[str] = DEFAULT_MEASURES,
    drop: Drop = None,
    keep: Keep | None = None,
    store: LocalPath | None = None,
    against: LocalPath | Run | None = None,
    on_progress: OnProgress | None = None,
) -> Evaluated:
    """Rank a data set, or take a run of it, and measure the ranking as trec_eval does.

    `model` is whatever `Ranker.load` takes, a ranker, or the path of a TREC run file. `data` is a known name with its
    folder as `root` and a `split` (by default `test`), a file, `NAME:FILE`, `hf:ID`, or groups with ids. `mode="clean"`
    leaves out questions whose candidates are all correct or all incorrect; `raw` keeps them.

    `drop`, `keep` and `store` are those of `Ranker.rank` and `Ranker.load`. `against` is another run of the same data,
    or its file: the result then has the differences and their significance.
    """
    require("pytrec_eval", "eval", "measuring")
    names = [Measure.parse(name).name for name in measures]
    options = RankOptions.of(drop=drop, keep=keep)
    groups, data_name = load_data(data, root, split, mode, default_split="test")
    labels = qrels(groups)
    other = None if against is None else measure_run(_as_run(against), labels, names)
    started = time.perf_counter()
    costs: dict[str, float] = {}
    if not isinstance(model, Ranker) and Path(model).is_file():
        if options != RankOptions() or store:
            raise CascadaError("drop, keep and store belong to a ranker; a run file is measured as it is.")
        run = read_run(model)
    else:
        run, costs = _ranked(model, groups, options, store, on_progress)
    seconds = time.perf_counter() - started
    evaluation = measure_run(run, labels, names)
    comparisons = {name: compare(evaluation, other, name) for name in evaluation.mean} if other else {}
    title = f"{'ranker' if isinstance(model, Ranker) else model} on {data_name}"
    return Evaluated(title, evaluation, run, costs, seconds, comparisons)


def _ranked(
    model: LocalPath | Ranker,
    groups: list[Group],
    options: RankOptions,
    store: LocalPath | None,
    on_progress: OnProgress | None,
) -> tuple[Run, dict[str, float]]:
    if not isinstance(model, Ranker):
        # BM25 computes IDF from all candidates of the data set, as a search engine does from its index.
        model = Ranker.load(model, store=store, texts=(text for group in groups for text in group.texts))
    elif store:
        raise CascadaError("store belongs to a model that is given by its name; this ranker is already loaded.")
    costs = RunCosts()
    with reporting(on_progress, "ranking", count_pairs(groups), "pairs") as advance:

        def on_ranking(group: Group, ranking: Ranking) -> None:
            costs.add(group, ranking)
            advance(len(group.candidates))

        run = run_of(model, groups, options, on_ranking=on_ranking)
    return run, costs.means()


def _as_run(run: LocalPath | Run) -> Run:
    return read_run(run) if isinstance(run, (str, Path)) else run
