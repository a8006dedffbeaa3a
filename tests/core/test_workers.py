"""Several processes: results in order, and no further ahead than needed."""

import os
import time

import pytest

from cascada.core.errors import CascadaError
from cascada.core.workers import AHEAD, map_in_order


def slower_at_first(number):
    time.sleep(0.05 if number < 2 else 0)
    return number * number


def crash(_):
    os._exit(9)


def test_results_come_in_the_order_of_the_items():
    assert list(map_in_order(slower_at_first, range(30), workers=2)) == [number * number for number in range(30)]


@pytest.mark.parametrize(("workers", "ahead"), [(1, 1), (2, 2 * AHEAD)])
def test_the_stream_is_read_only_a_little_ahead(workers, ahead):
    """However long it is: this one has no end."""
    read = []

    def numbers():
        while True:
            read.append(len(read))
            yield read[-1]

    results = map_in_order(abs, numbers(), workers=workers)
    for taken in range(1, 20):
        assert next(results) == taken - 1
        assert len(read) <= taken - 1 + ahead
    results.close()


def test_a_worker_that_dies_is_reported_in_a_sentence():
    with pytest.raises(CascadaError, match=r"A worker process ended unexpectedly.*--workers 1"):
        list(map_in_order(crash, range(3), workers=2))
