"""Stores side by side are one store, and what is not held is named."""

import numpy as np
import pytest
from hashing import HashingEncoder, texts

from cascada.core.errors import CascadaError
from cascada.store import ShardedStore, Store, open_store, shard_of

SHARDS = 4


def name(number, shards=SHARDS):
    return f"shard-{number:05d}-of-{shards:05d}"


@pytest.fixture
def sharded(tmp_path, encoder):
    """All shards, each with its texts."""
    for number in range(SHARDS):
        own = [text for text in texts(200) if shard_of(text, SHARDS) == number]
        store = Store.create(tmp_path / "s" / name(number), fingerprint=encoder.fingerprint, width=encoder.width)
        store.put(own, encoder.encode(own))
    return tmp_path / "s"


def test_it_reads_as_one_store(sharded, encoder):
    store = open_store(sharded, fingerprint=encoder.fingerprint)
    assert isinstance(store, ShardedStore)
    assert (store.shards, store.held, len(store)) == (SHARDS, (0, 1, 2, 3), 200)
    for found, expected in zip(store.get(texts(200)), encoder.encode(texts(200)), strict=True):
        np.testing.assert_allclose(found, expected, atol=0.005)
    assert store.get(["new", texts(1)[0]])[0] is None
    assert store.missing(["new", *texts(200), "new", "newer"]) == ["new", "newer"]
    assert "new" not in store
    assert texts(1)[0] in store


def test_texts_are_shared_out_evenly_and_always_alike():
    shares = np.bincount([shard_of(text, 8) for text in texts(4000)], minlength=8)
    assert shares.min() > 400
    assert [shard_of("To be, or not to be.", shards) for shards in (1, 2, 8, 1000)] == [0, 0, 4, 436]


def test_it_is_written_to_as_one_store(sharded, encoder):
    store = open_store(sharded, write=True)
    store.put(["one", "two", "three"], encoder.encode(["one", "two", "three"]))
    assert len(store) == 203
    assert "two" in Store.open(sharded / name(shard_of("two", SHARDS)))


def test_a_shard_that_is_not_held_is_named_and_nothing_is_guessed(sharded, tmp_path):
    absent = shard_of(texts(1)[0], SHARDS)
    (sharded / name(absent)).rename(tmp_path / "elsewhere")
    store = open_store(sharded)
    assert absent not in store.held
    sentence = rf"holds no {name(absent)}, to which 'word0' belongs: bring it here, or ask where it is held\.$"
    for ask in (store.get, store.missing, lambda some: store.put(some, [np.ones((1, 8))])):
        with pytest.raises(CascadaError, match=sentence):
            ask([*texts(1)])
    held = [text for text in texts(200) if shard_of(text, SHARDS) != absent]
    assert None not in [None if one is None else 1 for one in store.get(held)]


def test_parts_of_two_stores_and_another_model_are_refused(sharded):
    with pytest.raises(CascadaError, match=r"another model \(hashing-8, not hashing-9\)"):
        open_store(sharded, fingerprint=HashingEncoder(9).fingerprint)
    (sharded / name(0, 2)).mkdir()
    with pytest.raises(CascadaError, match="holds parts of stores with 2 and 4 shards"):
        open_store(sharded)


def test_a_single_store_is_opened_as_one_and_a_command_for_one_says_what_to_name(sharded):
    assert isinstance(open_store(sharded / name(1)), Store)
    with pytest.raises(CascadaError, match=f"is a store in shards: name one of them, such as .*{name(0)}"):
        Store.open(sharded)
    with pytest.raises(CascadaError, match="is not a store of encodings"):
        open_store(sharded / "nothing")
