"""Cores, threads and memory are those that this process may use."""

import pytest

from cascada.core import processors
from cascada.core.errors import CascadaError


@pytest.fixture
def container(monkeypatch):
    """`container(name=content)`: a machine of 16 cores and 16 GiB, with these cgroup files."""
    monkeypatch.setattr(processors.os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    monkeypatch.setattr(processors, "_text_of", lambda _: "MemTotal:  16777216 kB\nMemAvailable:  8388608 kB\n")
    return lambda **files: monkeypatch.setattr(processors, "_cgroup", lambda name: files[name.replace(".", "_")])


@pytest.mark.parametrize(
    ("quota", "cores"), [("250000 100000", 2), ("50000 100000", 1), ("max 100000", 16), ("", 16)], ids=repr
)
def test_cores_are_those_the_container_may_use(container, quota, cores):
    container(cpu_max=quota)
    assert processors.cores() == cores


def test_memory_is_what_the_container_may_use_and_has_left(container):
    container(memory_max=str(2**30), memory_current=str(2**29))
    assert processors.memory() == {"total": 1.0, "free": 0.5}


def test_without_a_limit_memory_is_the_machines(container):
    container(memory_max="max")
    assert processors.memory() == {"total": 16.0, "free": 8.0}


def test_threads_are_as_many_as_cores_unless_the_environment_says_otherwise(monkeypatch):
    monkeypatch.delenv("CASCADA_THREADS", raising=False)
    assert processors.threads() == processors.cores()
    monkeypatch.setenv("CASCADA_THREADS", "3")
    assert processors.threads() == 3


@pytest.mark.parametrize("setting", ["0", "-1", "many", "1.5"])
def test_a_number_of_threads_that_is_none_is_rejected(monkeypatch, setting):
    monkeypatch.setenv("CASCADA_THREADS", setting)
    with pytest.raises(CascadaError, match=r"CASCADA_THREADS is .* whole number from 1"):
        processors.threads()
