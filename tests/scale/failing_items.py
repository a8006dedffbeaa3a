"""Items that fail or kill their workers, on a cluster of its own; the results and sentences go to a JSON file.

In a process apart because Ray's driver itself has died by a signal, once in many runs, when its workers were killed.
"""

import json
import sys
from pathlib import Path

import ray
from killable import fails_on_three, kills_its_worker

from cascada.core.errors import CascadaError
from cascada.scale.cluster import map_unordered


def outcome(work, items):
    """The results in order, or the sentence of the error."""
    try:
        return sorted(map_unordered(work, items))
    except CascadaError as error:
        return str(error)


if __name__ == "__main__":
    ray.init(
        "local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=80_000_000,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
    )
    cases = [(fails_on_three, range(3)), (fails_on_three, range(10)), (kills_its_worker, [1])]
    Path(sys.argv[1]).write_text(json.dumps([outcome(work, items) for work, items in cases]))
