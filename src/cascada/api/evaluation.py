"""Evaluation: rank a data set and measure the ranking."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cascada.api.arguments import Data, LocalPath, OnProgress, count_pairs, reader_questions, reporting
from cascada.api.judgements import JudgedData, Source, judged_data
from cascada.core.errors import CascadaError, require
from cascada.core.folder import READER, SHAPE_FILE, kind_of
from cascada.data import Group, Qrels, Run, read_run
from cascada.metrics import DEFAULT_MEASURES, Comparison, Evaluation, Measure, compare
from cascada.metrics import evaluate as measure_run
from cascada.ranking import Ranker, Ranking
from cascada.ranking.inputs import RankOptions
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.runs import RunCosts, run_of

if TYPE_CHECKING:
    from cascada.reading.measure import MarkedQuestion


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
    """`relative_cost` and `relative_cost_p95`, and for rankers that count operations `flops_share` and
    `calibration_error`."""
    seconds: float = 0.0
    """Time spent on ranking, including loading the model."""
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)
    """For each measure, the comparison with the run given as `against`."""
    relevant: int | None = None
    """For graded data, the relevance from which a candidate counts as correct in binary measures."""
    first_stage: Mapping[str, float] | None = None
    """The measures of the candidates in the order of the first stage, if they come from one."""

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
        more = {"relevant": self.relevant, "first_stage": self.first_stage, "against": against or None}
        return content | {name: value for name, value in more.items() if value is not None}


def evaluate(
    model: LocalPath | Ranker | Run,
    data: Data,
    *,
    root: LocalPath | None = None,
    split: str | None = None,
    mode: str | None = None,
    qrels: LocalPath | Qrels | None = None,
    relevant: int | None = None,
    first_stage: str | None = None,
    depth: int | None = None,
    measures: Sequence[str] = DEFAULT_MEASURES,
    drop: Drop = None,
    keep: Keep | None = None,
    store: LocalPath | None = None,
    against: LocalPath | Run | None = None,
    on_progress: OnProgress | None = None,
) -> Evaluated:
    """Rank a data set, or take a run of it, and measure the ranking as trec_eval does; or measure a reader.

    `model` is whatever `Ranker.load` takes, a ranker, a run, or the path of a TREC run file. `data` is a known name
    with its folder as `root` and a `split` (by default `test`), a file, `NAME:FILE`, `hf:ID`, or groups with ids.
    `mode="clean"`, the default for such data, leaves out questions whose candidates are all correct or all incorrect;
    `raw` keeps them.

    For a test collection, `beir` or `trec_dl` with its folder as `root`, the candidates are the `depth` best of a
    `first_stage`: `bm25`, a TREC run file, or a list that the collection comes with. The result then has the first
    stage's own measures too. Every judged question counts (`mode="raw"`).

    `qrels` are judgements, or their file, that replace the labels of the data; documents that are judged but not among
    the candidates count as missed. With graded relevance, nDCG counts the grades, and a candidate is correct in binary
    measures if its relevance is at least `relevant` (2 for `trec_dl`, as the labels of the data say, otherwise 1).

    `drop`, `keep` and `store` are those of `Ranker.rank` and `Ranker.load`. `against` is another run of the same data,
    or its file: the result then has the differences and their significance.

    If `model` is the folder of a reader, `data` is a file in SQuAD's layout; the measures are exact match (EM) and F1
    of the answers in the questions' own paragraphs, by SQuAD's rules. None of the other arguments applies.
    """
    if _is_reader(model):
        settings: dict[str, object] = {"root": root, "split": split, "mode": mode, "qrels": qrels, "store": store}
        settings |= {
            "relevant": relevant,
            "first_stage": first_stage,
            "depth": depth,
            "drop": drop,
            "keep": keep,
            "against": against,
        }
        return _evaluate_reader(Path(str(model)), reader_questions(data, **settings), str(data), on_progress)
    require("pytrec_eval", "eval", "measuring")
    names = [Measure.parse(name).name for name in measures]
    options = RankOptions.of(drop=drop, keep=keep)
    is_run = isinstance(model, dict) or (not isinstance(model, Ranker) and Path(model).is_file())
    if is_run and (options != RankOptions() or store):
        raise CascadaError("drop, keep and store belong to a ranker; a run file is measured as it is.")
    source = Source(data, root, split, mode, qrels, relevant, first_stage, depth)
    judged = judged_data(source, of_run=is_run)
    other = None if against is None else _measured(_as_run(against), judged, names)
    first = None if judged.first_stage is None else _measured(judged.first_stage, judged, names).mean
    started = time.perf_counter()
    costs: dict[str, float] = {}
    if isinstance(model, dict) or (is_run and not isinstance(model, Ranker)):
        run = _as_run(model)
    else:
        run, costs = _ranked(model, judged.groups, options, store, on_progress)
    seconds = time.perf_counter() - started
    evaluation = _measured(run, judged, names)
    comparisons = {name: compare(evaluation, other, name) for name in evaluation.mean} if other else {}
    name = "ranker" if isinstance(model, Ranker) else "run" if isinstance(model, dict) else str(model)
    title = f"{name} on {judged.name}"
    threshold = judged.relevant if judged.graded else None
    return Evaluated(title, evaluation, run, costs, seconds, comparisons, threshold, first)


def _is_reader(model: LocalPath | Ranker | Run) -> bool:
    return isinstance(model, (str, Path)) and (Path(model) / SHAPE_FILE).is_file() and kind_of(Path(model)) == READER


def _evaluate_reader(
    folder: Path, questions: list[MarkedQuestion], name: str, on_progress: OnProgress | None
) -> Evaluated:
    from cascada.reading import Reader
    from cascada.reading.measure import measure_reader

    started = time.perf_counter()
    with reporting(on_progress, "reading", len(questions), "questions") as advance:
        evaluation = measure_reader(Reader.load(folder), questions, advance)
    return Evaluated(f"{folder} on {name}", evaluation, run={}, seconds=time.perf_counter() - started)


def _measured(run: Run, judged: JudgedData, names: Sequence[str]) -> Evaluation:
    return measure_run(run, judged.qrels, names, relevant=judged.relevant)


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
