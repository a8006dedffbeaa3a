"""Read and write groups: a question with its candidate sentences, from known data sets or your own files."""

from cascada.data.benchmark import Benchmark
from cascada.data.group import Candidate, Group, identified
from cascada.data.noise import flip_labels
from cascada.data.read import load, open_benchmark, read
from cascada.data.statistics import MODES, Mode, Statistics, select, statistics, statistics_by_mode
from cascada.data.trec import Qrels, Run, qrels, read_qrels, read_run, write_qrels, write_run
from cascada.data.write import write_jsonl

__all__ = [
    "MODES",
    "Benchmark",
    "Candidate",
    "Group",
    "Mode",
    "Qrels",
    "Run",
    "Statistics",
    "flip_labels",
    "identified",
    "load",
    "open_benchmark",
    "qrels",
    "read",
    "read_qrels",
    "read_run",
    "select",
    "statistics",
    "statistics_by_mode",
    "write_jsonl",
    "write_qrels",
    "write_run",
]
