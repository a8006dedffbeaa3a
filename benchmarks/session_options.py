"""What ONNX Runtime's session options change for the graphs of an exported ranker.

    python benchmarks/session_options.py src/cascada/bundled/cascada-mini/document.onnx

runs the graph with each option in turn, so that other load affects all alike, on one thread. Printed are medians of the
thread's processor time, and their share of what it takes as Cascada runs it.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "enable_cpu_mem_arena off": {"enable_cpu_mem_arena": False},
    "enable_mem_pattern off": {"enable_mem_pattern": False},
    "session.set_denormal_as_zero": {"entry": ("session.set_denormal_as_zero", "1")},
    "session.intra_op.allow_spinning off": {"entry": ("session.intra_op.allow_spinning", "0")},
    "FastGelu (optimization.enable_gelu_approximation)": {"entry": ("optimization.enable_gelu_approximation", "1")},
}


def session(path: Path, settings: dict[str, Any]) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    for name, value in settings.items():
        if name == "entry":
            options.add_session_config_entry(*value)
        else:
            setattr(options, name, value)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs(of: onnxruntime.InferenceSession, texts: int, tokens: int) -> dict[str, Any]:
    """Random token ids; texts of full length."""
    random, made = np.random.default_rng(0), {}
    for need in of.get_inputs():
        shape = [size if isinstance(size, int) else (texts, tokens)[place] for place, size in enumerate(need.shape[:2])]
        kind = np.int64 if "int64" in need.type else np.int32
        if "float" in need.type:
            raise SystemExit(f"{need.name} takes hidden states: name the graph of a first stage.")
        values = random.integers(1000, 2000, shape) if need.name == "ids" else np.zeros(shape)
        made[need.name] = (np.full(shape, tokens) if need.name == "lengths" else values).astype(kind)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path, help="the ONNX file of a first stage")
    parser.add_argument("--texts", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--repeats", type=int, default=25)
    options = parser.parse_args()
    sessions = {name: session(options.graph, settings) for name, settings in OPTIONS.items()}
    feed = inputs(sessions["as it is"], options.texts, options.tokens)
    seconds = defaultdict(list)
    for repeat in range(-1, options.repeats):  # repeat -1 is the warm-up
        for name, running in sessions.items():
            started = time.thread_time()
            running.run(None, feed)
            if repeat >= 0:
                seconds[name].append(time.thread_time() - started)
    usual = np.median(seconds["as it is"])
    for name, times in seconds.items():
        print(f"{name:50} {1000 * np.median(times):7.1f} ms {np.median(times) / usual:7.3f}")


if __name__ == "__main__":
    main()
