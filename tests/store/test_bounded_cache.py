"""The bounded cache: what was put comes back, the oldest go first, and no trouble of the disk reaches its user."""

import os
import pickle
import signal
import subprocess
import sys
import time
from hashlib import sha256

import pytest

from cascada.core.errors import CascadaError
from cascada.store import bounded_cache
from cascada.store.bounded_cache import FILE, SMALLEST, open_cache

LIMIT = SMALLEST


def entries(start, end, size=100):
    """Keys are in random places, as digests are."""
    return [(sha256(b"%d" % number).digest(), number.to_bytes(4, "big") * (size // 4)) for number in range(start, end)]


@pytest.fixture
def cache(tmp_path):
    return open_cache(tmp_path / "cache", LIMIT)


def fill(cache, some):
    cache.put(some)
    cache.flush()


def run(code, *arguments):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_what_was_put_comes_back_and_nothing_else(cache):
    fill(cache, entries(0, 50))
    keys = [key for key, _ in entries(0, 60)]
    assert cache.get(keys) == [value for _, value in entries(0, 50)] + [None] * 10
    assert (len(cache), cache.errors) == (50, 0)


def test_the_oldest_go_first_and_the_file_stays_within_its_limit(cache):
    for start in range(0, 30_000, 1000):
        fill(cache, entries(start, start + 1000, 400))
        assert cache.bytes <= LIMIT
    values = cache.get([key for key, _ in entries(0, 30_000)])
    kept = [number for number, value in enumerate(values) if value is not None]
    assert 3000 < len(kept) < 20_000
    assert kept == list(range(30_000 - len(kept), 30_000))


def test_an_entry_that_is_put_again_is_new_again(cache):
    first = entries(0, 10)
    fill(cache, first)
    for start in range(10, 25_000, 2500):
        fill(cache, entries(start, start + 2500, 400))
        fill(cache, first)
    assert cache.get([entries(0, 20)[-1][0]]) == [None]
    assert cache.get([key for key, _ in first]) == [value for _, value in first]


def test_a_value_that_changed_on_disk_is_a_miss(cache, tmp_path):
    fill(cache, [(b"k" * 24, b"a value that is easily found in the file")])
    file = tmp_path / "cache" / FILE
    content = file.read_bytes()
    place = content.index(b"easily found")
    with open(file, "r+b") as written:
        written.seek(place)
        written.write(b"EASILY")
    assert cache.get([b"k" * 24]) == [None]


@pytest.mark.parametrize("damage", [b"", b"x" * 50_000, 9_000, 30_000, 60_000])
def test_a_damaged_file_is_replaced_by_an_empty_cache(tmp_path, damage, monkeypatch):
    code = """
import sys; from cascada.store.bounded_cache import open_cache
cache = open_cache(sys.argv[1], 8 << 20); cache.put([(bytes([n]) * 24, b"v" * 500) for n in range(200)]); cache.flush()
"""
    assert run(code, tmp_path / "cache").wait(300) == 0
    file = tmp_path / "cache" / FILE
    file.write_bytes(file.read_bytes()[:damage] if isinstance(damage, int) else damage)
    cache = open_cache(tmp_path / "cache", LIMIT)
    assert set(cache.get([bytes([n]) * 24 for n in range(200)])) <= {None, b"v" * 500}
    monkeypatch.setattr(bounded_cache, "RETRY_SECONDS", 0)
    for _ in range(3):  # whichever part is damaged, it is found, and then replaced
        fill(cache, entries(0, 5))
    assert cache.get([entries(0, 1)[0][0]]) == [entries(0, 1)[0][1]]


def test_a_process_that_is_killed_leaves_a_whole_cache(tmp_path):
    code = """
import sys; from cascada.store.bounded_cache import open_cache
cache = open_cache(sys.argv[1], 8 << 20)
number = 0
while True:
    cache.put([(b"%024d" % (number + n), b"%04d" % (number + n) * 25) for n in range(100)])
    cache.flush()
    number += 100
    print(number, flush=True)
"""
    for _ in range(3):
        writer = run(code, tmp_path / "cache")
        written = [int(writer.stdout.readline()) for _ in range(20)][-1]
        writer.send_signal(signal.SIGKILL)
        writer.wait(60)
    cache = open_cache(tmp_path / "cache", LIMIT)
    expected = [(b"%024d" % n, b"%04d" % n * 25) for n in range(written)]
    assert cache.get([key for key, _ in expected]) == [value for _, value in expected]
    fill(cache, entries(10**6, 10**6 + 10))
    assert cache.errors == 0


def test_two_processes_use_one_cache_at_once(tmp_path):
    code = """
import sys; from cascada.store.bounded_cache import open_cache
cache = open_cache(sys.argv[1], 8 << 20); first = int(sys.argv[2])
for start in range(first, first + 2000, 50):
    cache.put([(n.to_bytes(24, "big"), n.to_bytes(4, "big") * 25) for n in range(start, start + 50)]); cache.flush()
    values = cache.get([n.to_bytes(24, "big") for n in range(start, start + 50)])
    assert values == [n.to_bytes(4, "big") * 25 for n in range(start, start + 50)], values
assert cache.errors == 0
"""
    writers = [run(code, tmp_path / "cache", first) for first in (0, 10_000)]
    assert [writer.wait(300) for writer in writers] == [0, 0]
    assert len(open_cache(tmp_path / "cache", LIMIT)) == 4000


def test_a_full_disk_is_counted_and_the_cache_works_again_later(tmp_path):
    """A limit on the size of files stands in for a full disk: the system refuses to write in the same way."""
    code = """
import resource, signal, sys; from cascada.store import bounded_cache
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
cache = bounded_cache.open_cache(sys.argv[1], 8 << 20)
cache.put([(b"a" * 24, b"first")]); cache.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
for start in range(20):
    cache.put([((start * 500 + n).to_bytes(24, "big"), b"v" * 400) for n in range(500)]); cache.flush()
assert cache.errors > 0
assert cache.get([b"a" * 24]) in ([None], [b"first"])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
bounded_cache.RETRY_SECONDS = 0
cache.put([(b"b" * 24, b"second")]); cache.flush()
assert cache.get([b"a" * 24, b"b" * 24]) == [b"first", b"second"], cache.get([b"a" * 24, b"b" * 24])
"""
    assert run(code, tmp_path / "cache").wait(300) == 0


def test_writes_that_pile_up_are_dropped_and_counted(cache, monkeypatch):
    monkeypatch.setattr(type(cache), "_usable", lambda self: time.sleep(0.01) or True)
    for start in range(3 * bounded_cache.PENDING):
        cache.put(entries(start, start + 1))
    cache.flush()
    assert 0 < cache.errors < 3 * bounded_cache.PENDING
    assert len(cache) + cache.errors == 3 * bounded_cache.PENDING


def test_one_folder_is_one_object_also_after_pickling(cache, tmp_path):
    assert open_cache(f"{tmp_path}/./cache", LIMIT) is cache
    assert pickle.loads(pickle.dumps(cache)) is cache


@pytest.mark.parametrize(
    ("make", "limit", "sentence"),
    [
        (lambda path: path.write_text("mine"), LIMIT, "is a file; a cache needs a folder of its own"),
        (lambda path: (path.mkdir(), (path / "thesis.txt").write_text("mine")), LIMIT, "holds something else"),
        (lambda path: None, 1000, "it must be 8 to"),
        (lambda path: None, 1 << 50, "it must be 8 to"),
    ],
    ids=["a file", "somebody's folder", "too small", "too large"],
)
def test_what_cannot_be_a_cache_is_refused_in_a_sentence(tmp_path, make, limit, sentence):
    make(tmp_path / "place")
    with pytest.raises(CascadaError, match=sentence):
        open_cache(tmp_path / "place", limit)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(CascadaError, match="cannot be used: Permission denied"):
        open_cache(tmp_path / "locked", LIMIT)
