"""Filling a store can be interrupted at any moment, and resumes where it stopped."""

import os
import random
import signal
import time

import numpy as np
import pytest
from hashing import HashingEncoder, child, texts

from cascada.core.errors import CascadaError
from cascada.store import LoadedInEachProcess, Store, check_structure, damaged_keys, fill
from cascada.store.fill import BATCH

FILL = """
from hashing import endless_texts
from cascada.store import Store, fill
encoder = HashingEncoder()
store = Store.open(sys.argv[1], fingerprint=encoder.fingerprint, write=True)
print("started", flush=True)
fill(store, encoder, endless_texts(), advance=lambda done: print(done, flush=True))
"""


class Dying(HashingEncoder):
    """Ends its process without an exception, as the system does when memory runs out."""

    def encode(self, texts):
        if any(text.startswith("word100 ") for text in texts):
            os._exit(9)
        return super().encode(texts)


class Failing(HashingEncoder):
    def encode(self, texts):
        raise CascadaError("This text is too odd.")


def assert_encoded(store, encoder, wanted):
    for stored, expected in zip(store.get(wanted), encoder.encode(wanted), strict=True):
        np.testing.assert_allclose(stored, expected, atol=0.005)


def test_every_text_is_encoded_once_and_progress_counts_texts_found_and_written(store, encoder):
    progress = []
    assert fill(store, encoder, texts(100), advance=progress.append) == 100
    assert sum(progress) == 100
    assert fill(store, encoder, [*texts(110), *texts(5), "new", "new"], advance=progress.append) == 11
    assert sum(progress) == 217
    assert_encoded(store, encoder, texts(110))


def test_texts_are_read_as_they_are_needed(store, encoder):
    def interrupted():
        for number, text in enumerate(texts(5000)):
            if number == 3000:
                raise CascadaError("The file is damaged here.")
            yield text

    with pytest.raises(CascadaError, match="damaged here"):
        fill(store, encoder, interrupted())
    assert store.missing(texts(2048)) == []


def test_several_workers_store_what_one_would(store):
    encoder = LoadedInEachProcess(HashingEncoder)
    assert fill(store, encoder, [*texts(150), *texts(150)], workers=2) == 150
    assert_encoded(store, encoder, texts(150))


def test_a_worker_that_dies_is_reported_and_finished_texts_are_kept(store):
    with pytest.raises(CascadaError, match="A worker process ended unexpectedly"):
        fill(store, Dying(), texts(120), workers=2)
    rest = len(store.missing(texts(120)))
    assert "word100 word200 word300" not in store
    assert fill(store, HashingEncoder(), texts(120)) == rest
    assert len(store) == 120


def test_an_encoders_error_in_a_worker_reaches_the_caller(store):
    with pytest.raises(CascadaError, match="This text is too odd"):
        fill(store, Failing(), texts(10), workers=2)


def test_mistakes_are_rejected_before_anything_is_encoded(store, encoder):
    with pytest.raises(CascadaError, match="another model"):
        fill(store, HashingEncoder(width=9), texts(1))
    with pytest.raises(CascadaError, match="workers is 0"):
        fill(store, encoder, texts(1), workers=0)
    unpicklable = HashingEncoder()
    unpicklable.hook = lambda: None
    with pytest.raises(CascadaError, match="cannot be sent to other processes"):
        fill(store, unpicklable, texts(1), workers=2)


def test_a_kill_at_any_moment_loses_no_finished_batch(folder, store, encoder):
    moments = random.Random(0)
    for _ in range(5):
        before = len(store)
        filling = child(FILL, folder)
        assert filling.stdout.readline() == "started\n"
        lines = [filling.stdout.readline() for _ in range(moments.randrange(1, 10))]
        time.sleep(moments.random() * 0.02)
        filling.kill()
        finished = max(before, sum(map(int, [*lines, *filling.stdout.read().splitlines()])))
        assert filling.wait() == -signal.SIGKILL
        reader = Store.open(folder, fingerprint=encoder.fingerprint)
        assert finished <= len(reader) <= finished + BATCH
        check_structure(folder)
        assert list(damaged_keys(reader)) == []
    assert len(store) > 0
    wanted = texts(len(store) + 100)
    rest = len(store.missing(wanted))
    assert fill(store, encoder, wanted) == rest > 0
    assert_encoded(store, encoder, wanted)
