"""Shards read and write as one store, and a shard that is not here is named."""

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


def test_texts_are_spread_evenly_and_always_the_same_way():
    shares = np.bincount([shard_of(text, 8) for text in texts(4000)], minlength=8)
    assert shares.min() > 400
    assert [shard_of("To be, or not to be.", shards) for shards in (1, 2, 8, 1000)] == [0, 0, 4, 436]


def test_it_is_written_to_as_one_store(sharded, encoder):
    store = open_store(sharded, write=True)
    store.put(["one", "two", "three"], encoder.encode(["one", "two", "three"]))
    assert len(store) == 203
    assert "two" in Store.open(sharded / name(shard_of("two", SHARDS)))


def test_a_shard_that_is_not_here_is_named_and_its_texts_are_not_missing(sharded, tmp_path):
    absent = shard_of(texts(1)[0], SHARDS)
    (sharded / name(absent)).rename(tmp_path / "elsewhere")
    store = open_store(sharded)
    assert absent not in store.held
    sentence = rf"does not hold {name(absent)}, to which 'word0' belongs: copy the shard here, or ask a machine that"
    for lookup in (store.get, store.missing, lambda wanted: store.put(wanted, [np.ones((1, 8))])):
        with pytest.raises(CascadaError, match=sentence):
            lookup(texts(1))
    held = [text for text in texts(200) if shard_of(text, SHARDS) != absent]
    assert all(encoding is not None for encoding in store.get(held))


def test_shards_of_two_stores_and_of_another_model_are_rejected(sharded):
    with pytest.raises(CascadaError, match=r"another model \(hashing-8, not hashing-9\)"):
        open_store(sharded, fingerprint=HashingEncoder(9).fingerprint)
    (sharded / name(0, 2)).mkdir()
    with pytest.raises(CascadaError, match="holds parts of stores with 2 and 4 shards"):
        open_store(sharded)


def test_one_shard_opens_as_a_store_and_opening_all_as_one_names_an_example(sharded):
    assert isinstance(open_store(sharded / name(1)), Store)
    with pytest.raises(CascadaError, match=f"is a sharded store: name one of its shards, such as .*{name(0)}"):
        Store.open(sharded)
    with pytest.raises(CascadaError, match="is not a store of encodings"):
        open_store(sharded / "nothing")
