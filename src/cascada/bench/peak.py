"""The machine's peak speed in int8 matrix products: ONNX Runtime's MatMulInteger at a layer's shapes, on all cores.

    python -m cascada.bench.peak HIDDEN FEED_FORWARD CORES  →  {"gops": …, "products": {"384x1152": …, …}}

One single-threaded session per core runs on 512 tokens at a time. `gops` is the speed of all products of a layer in
sequence: their operations divided by their time; a multiplication and an addition are two operations.
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
    """The speed of each product, and of a whole layer, in billions of operations per second."""
    shapes = [(hidden, 3 * hidden), (hidden, hidden), (hidden, feed_forward), (feed_forward, hidden)]
    speeds = {f"{rows}x{columns}": _speed(rows, columns, cores, seconds) for rows, columns in shapes}
    operations = [rows * columns for rows, columns in shapes]
    times = [work / speed for work, speed in zip(operations, speeds.values(), strict=True)]
    return {"gops": sum(operations) / sum(times), "products": speeds}


def _speed(rows: int, columns: int, cores: int, seconds: float) -> float:
    calls = [_call(rows, columns, seed) for seed in range(cores)]
    for call in calls:
        call()
    started = time.perf_counter()

    def work(call: Callable[[], object]) -> int:
        """Call until the time is over, and at least once, however busy the machine is."""
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
    """One product whose weights, like a layer's, are constants that the runtime may lay out as it likes."""
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
