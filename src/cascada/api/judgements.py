"""The data of an evaluation: questions with candidates, judgements, and the first stage that chose the candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from cascada.api.arguments import Data, LocalPath, load_data
from cascada.core.errors import CascadaError
from cascada.data import Group, Qrels, Run, qrels, read_qrels
from cascada.data.read import open_benchmark
from cascada.data.readers import BENCHMARKS
from cascada.data.relevance import judged, threshold_of, thresholded
from cascada.data.statistics import keeps, parse_mode


@dataclass(frozen=True)
class Source:
    """What the user says about the data; see `cascada.api.evaluate`."""

    data: Data
    root: LocalPath | None = None
    split: str | None = None
    mode: str | None = None
    qrels: LocalPath | Qrels | None = None
    relevant: int | None = None
    first_stage: str | None = None
    depth: int | None = None


@dataclass(frozen=True)
class JudgedData:
    """Questions with candidates, and the judgements that their ranking is measured by."""

    name: str
    groups: list[Group]
    qrels: Qrels
    relevant: int
    """The relevance from which a candidate counts as correct in binary measures."""
    first_stage: Run | None = None
    """The order in which a first stage put the candidates."""

    @property
    def graded(self) -> bool:
        """Whether a relevance other than 0 and 1 counts."""
        return self.relevant > 1 or any(grade > 1 for grades in self.qrels.values() for grade in grades.values())


def judged_data(source: Source, *, of_run: bool = False) -> JudgedData:
    """Read and check the data. `of_run`: a run is to be measured, for which no candidates are needed."""
    given = read_qrels(source.qrels) if isinstance(source.qrels, (str, Path)) else source.qrels
    if source.relevant is not None and source.relevant < 1:
        raise CascadaError(f"relevant is {source.relevant}; it must be a whole number from 1.")
    if isinstance(source.data, str) and source.data in BENCHMARKS:
        return _of_benchmark(source, given, of_run)
    if source.first_stage is not None or source.depth is not None:
        raise CascadaError(
            f"A first stage belongs to a test collection ({', '.join(BENCHMARKS)}): its data has no lists."
        )
    return _of_lists(source, given)


def _of_benchmark(source: Source, given: Qrels | None, of_run: bool) -> JudgedData:
    benchmark = open_benchmark(str(source.data), source.root, source.split, given)
    benchmark = replace(benchmark, relevant=source.relevant or benchmark.relevant)
    name = f"{source.data} {Path(benchmark.root).name}"
    if of_run and source.first_stage is None:
        return JudgedData(name, [], benchmark.qrels, benchmark.relevant)
    if source.first_stage is None and not benchmark.lists:
        raise CascadaError("Say which candidates are to be ranked: --first-stage bm25, or a TREC run file.")
    mode = parse_mode(source.mode or "raw")
    groups = [group for group in benchmark.groups(source.first_stage, source.depth) if keeps(group, mode)]
    labels = benchmark.qrels if mode == "raw" else _of_questions(benchmark.qrels, groups, mode)
    stage = Path(source.first_stage).name if source.first_stage else next(iter(benchmark.lists))
    return JudgedData(f"{name} ({stage}, {mode})", groups, labels, benchmark.relevant, _run_in_order(groups))


def _of_lists(source: Source, given: Qrels | None) -> JudgedData:
    """Groups with their own labels, or with the given judgements in their place."""
    mode = parse_mode(source.mode or ("clean" if given is None else "raw"))
    groups, name = load_data(source.data, source.root, source.split, "raw", default_split="test")
    if given is not None:
        groups = judged(groups, given, source.relevant or 1)
    elif source.relevant:
        groups = thresholded(groups, source.relevant)
    groups = [group for group in groups if keeps(group, mode)]
    labels = _of_questions(qrels(groups) if given is None else given, groups, mode)
    relevant = source.relevant or (threshold_of(groups) if given is None else 1)
    return JudgedData(name.replace("(raw)", f"({mode})"), groups, labels, relevant)


def _of_questions(labels: Qrels, groups: list[Group], mode: str) -> Qrels:
    if not groups:
        raise CascadaError(f"The data has no questions in mode {mode}.")
    return {str(group.id): labels[str(group.id)] for group in groups if str(group.id) in labels}


def _run_in_order(groups: Iterable[Group]) -> Run:
    """The run that ranks the candidates in the order of the data."""
    return {
        str(group.id): {str(candidate.id): -float(place) for place, candidate in enumerate(group.candidates)}
        for group in groups
    }
