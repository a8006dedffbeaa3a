"""Profile an exported ranker: the time share of every kind of operator, from ONNX Runtime's profiler.

    python benchmarks/operators.py MODEL [--candidates 200] [--drop 0] [--json]

Uses one thread, and the texts of `cascada bench`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

import onnxruntime
from tables import markdown

from cascada.bench.texts import QUESTION, sentences
from cascada.graphs.session import graph_file, stage_name
from cascada.ranking import Ranker
from cascada.systems.cascade.engine_onnx import OnnxModel


class ProfiledModel(OnnxModel):
    """A model whose sessions record the time of every operator."""

    def __init__(self, folder: Path, logs: Path) -> None:
        super().__init__(folder, threads=1)
        self.logs = logs
        self.sessions: list[onnxruntime.InferenceSession] = []

    def session(self, exit: int) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.enable_profiling = True
        options.profile_file_prefix = str(self.logs / stage_name(exit))
        self.sessions.append(onnxruntime.InferenceSession(str(self.folder / graph_file(stage_name(exit))), options))
        return self.sessions[-1]


def microseconds(folder: Path, candidates: int, drop: float) -> Counter[str]:
    """The time of each kind of operator, over all stages."""
    times: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as logs:
        model = ProfiledModel(folder, Path(logs))
        Ranker(model.stages()).rank(QUESTION, sentences(candidates), drop=drop)
        for session in model.sessions:
            for event in json.loads(Path(session.end_profiling()).read_text(encoding="utf-8")):
                if event["cat"] == "Node" and event["name"].endswith("_kernel_time"):
                    times[event["args"]["op_name"]] += event["dur"]
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="an exported ranker's folder")
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--drop", type=float, default=0.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    times = microseconds(options.model, options.candidates, options.drop)
    total = sum(times.values())
    small = [name for name, spent in times.items() if spent < total / 200]
    times["all others"] = sum(times.pop(name) for name in small)
    rows = [
        {"operator": name, "seconds": round(spent / 1e6, 4), "share": round(spent / total, 4)}
        for name, spent in times.items()
    ]
    rows.sort(key=lambda row: (row["operator"] == "all others", -row["share"]))
    print(json.dumps(rows) if options.json else markdown(rows, {"operator": "", "seconds": "s", "share": "share"}))


if __name__ == "__main__":
    main()
