"""The machine's peak in 8-bit matrix products: ONNX Runtime's MatMulInteger at a layer's shapes, all cores at work.

    python -m cascada.bench.peak HIDDEN FEED_FORWARD CORES  →  {"gops": …, "products": {"384x1152": …, …}}

One single-threaded session a core, side by side, on 512 tokens at a time. `gops` is what a layer's products would run
at one after another: all of their operations by all of their time, two operations for a multiplication and an addition.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from cascada.core.errors import require

TOKENS = 512


SECONDS = 0.5


def peak(hidden: int, feed_forward: int, cores: int, *, seconds: float = SECONDS) -> dict[str, object]:
    """Operations a second, in thousands of millions."""
    shapes = [(hidden, 3 * hidden), (hidden, hidden), (hidden, feed_forward), (feed_forward, hidden)]
    speeds = {f"{rows}x{columns}": _speed(rows, columns, cores, seconds) for rows, columns in shapes}
    operations = [rows * columns for rows, columns in shapes]
    taken = [work / speed for work, speed in zip(operations, speeds.values(), strict=True)]
    return {"gops": sum(operations) / sum(taken), "products": speeds}


def _speed(rows: int, columns: int, cores: int, seconds: float) -> float:
    calls = [_call(rows, columns, seed) for seed in range(cores)]
    for call in calls:
        call()
    started = time.perf_counter()

    def work(call: Callable[[], object]) -> int:
        """At least one call, however long the machine was busy with something else before it."""
        call()
        done = 1
        while time.perf_counter() < started + seconds:
            call()
            done += 1
        return done

    with ThreadPoolExecutor(cores) as pool:
        done = sum(pool.map(work, calls))
    return done * 2 * TOKENS * rows * columns / (time.perf_counter() - started) / 1e9


def _call(rows: int, columns: int, seed: int) -> Callable[[], object]:
    """One product with weights that the runtime may lay out as it likes, as a layer's are."""
    require("onnx", "train", "measuring the peak")
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(seed)
    weights = random.integers(-64, 64, (rows, columns)).astype(np.int8)
    states = random.integers(0, 255, (TOKENS, rows)).astype(np.uint8)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["states", "weights"], ["product"])],
        "product",
        [helper.make_tensor_value_info("states", TensorProto.UINT8, [TOKENS, rows])],
        [helper.make_tensor_value_info("product", TensorProto.INT32, [TOKENS, columns])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"states": states})


if __name__ == "__main__":
    print(json.dumps(peak(*map(int, sys.argv[1:4]))), flush=True)
