"""A Ray cluster of two nodes on this machine, a core each."""

import inspect
import os
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SMALL = 80_000_000
"""Bytes of a node's object store, near the minimum that Ray accepts."""
PATIENCE = 600
"""Seconds; enough for a machine that is busy with other work."""
PATIENT = {
    "RAY_agent_register_timeout_ms": str(1000 * PATIENCE),
    "RAY_gcs_server_request_timeout_seconds": str(PATIENCE),
    "RAY_health_check_initial_delay_ms": str(1000 * PATIENCE),
    "RAY_health_check_timeout_ms": str(1000 * PATIENCE),
    "RAY_worker_register_timeout_seconds": str(PATIENCE),
    "RAY_worker_niceness": "0",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": str(PATIENCE),
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": str(PATIENCE),
    "RAY_USAGE_STATS_ENABLED": "0",
}


@pytest.fixture(scope="session")
def cluster():
    """A cluster that all tests share; its processes end with the session."""
    import ray
    from ray.cluster_utils import Cluster

    before = dict(os.environ)
    os.environ.update(PATIENT)
    started = Cluster()
    try:
        with pytest.MonkeyPatch.context() as patched:
            for folder in (HERE.parent, HERE):  # for the nodes only, not for child processes of other tests
                patched.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
            be_patient(patched, ray._private.services)
            for extra in ({"include_dashboard": False}, {}):
                started.add_node(num_cpus=1, object_store_memory=SMALL, wait=False, **ports(), **extra)
            started.wait_for_nodes(PATIENCE)
            ray.init(address=started.address, log_to_driver=False, logging_level="ERROR")
        yield started
    finally:
        ray.shutdown()
        started.shutdown()
        os.environ.clear()
        os.environ.update(before)


def ports():
    """Free ports for a node's processes, so that none has to wait until another reports its port."""
    names = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in names]
        numbers = {name: listening.getsockname()[1] for name, listening in zip(names, sockets, strict=True)}
    return {"node_ip_address": "127.0.0.1", **numbers}


def be_patient(patched, services):
    """What Ray has no setting for: a node may take more than half a minute to start and its agent more than 15 seconds,
    and all of them listen on this machine only.
    """
    get_node, start_raylet = services.get_node, services.start_raylet

    def patient_get_node(*arguments):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return get_node(*arguments)
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def start_raylet_with_port(*arguments, **named):
        from ray._raylet import DASHBOARD_AGENT_LISTEN_PORT_NAME, persist_port

        given = inspect.signature(start_raylet).bind(*arguments, **named).arguments
        where = (given["session_dir"], given["node_id"], DASHBOARD_AGENT_LISTEN_PORT_NAME)
        persist_port(*where, given["dashboard_agent_listen_port"])
        return start_raylet(*arguments, **named)

    patched.setattr(
        services, "get_node_ip_address", lambda address=None: "127.0.0.1"
    )  # not an address that other machines can reach
    patched.setattr(services, "get_node", patient_get_node)
    patched.setattr(services, "start_raylet", start_raylet_with_port)
