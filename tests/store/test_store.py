"""A store returns what was put in, for the same encoder only."""

import json
import shutil
from threading import Thread

import lmdb
import numpy as np
import pytest
from hashing import child, texts

from cascada.core.errors import CascadaError
from cascada.store import Store, lmdb_file


@pytest.mark.parametrize(("form", "error"), [("fp32", 0), ("fp16", 1e-3), ("int8", 1 / 254 * 1.01)])
def test_an_encoding_is_returned_up_to_rounding(folder, encoder, form, error):
    store = Store.create(folder, fingerprint=encoder.fingerprint, width=encoder.width, form=form)
    put = encoder.encode(texts(20))
    store.put(texts(20), put)
    got = Store.open(folder, fingerprint=encoder.fingerprint).get(texts(20))
    for expected, encoding in zip(put, got, strict=True):
        assert (encoding.shape, encoding.dtype) == (expected.shape, np.float32)
        assert (np.abs(encoding - expected) <= error * np.abs(expected).max(axis=1, keepdims=True)).all()


def test_int8_keeps_the_largest_value_and_a_token_of_zeros(store):
    put = np.array([[1e30] + 7 * [0], 8 * [0], 8 * [-1e-30]], np.float32)
    store.put(["a"], [put])
    np.testing.assert_allclose(store.get(["a"])[0], put, rtol=1e-6)


def test_every_float16_value_is_returned_exactly(folder):
    store = Store.create(folder, fingerprint="f", width=16, form="fp16")
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    put = halves[np.isfinite(halves)].astype(np.float32).reshape(-1, 16)
    store.put(["a"], [put])
    np.testing.assert_array_equal(store.get(["a"])[0].view(np.int32), put.view(np.int32))


def test_a_text_that_is_not_there_is_none(store, encoder):
    store.put(["a", "c"], encoder.encode(["a", "c"]))
    assert [encoding is None for encoding in store.get(["a", "b", "c", "a"])] == [False, True, False, False]
    assert ("a" in store, "b" in store, len(store)) == (True, False, 2)
    assert store.missing(["b", "a", "d", "b"]) == ["b", "d"]
    assert store.get([]) == []


def test_a_second_put_replaces_the_first(store, encoder):
    store.put(["a"], encoder.encode(["one"]))
    store.put(["a"], encoder.encode(["one two"]))
    assert (len(store), len(store.get(["a"])[0])) == (1, 2)


def test_empty_and_malformed_texts_have_keys_too(store, encoder):
    odd = ["", " ", "\0", "\ud800", "é", "e\u0301"]
    store.put(odd, encoder.encode(odd))
    assert len(store) == 6


def test_a_store_of_another_model_is_rejected(folder, store):
    with pytest.raises(
        CascadaError, match=r"store holds the encodings of another model \(hashing-8, not other\): make"
    ):
        Store.open(folder, fingerprint="other")
    assert Store.open(folder).header.fingerprint == "hashing-8"


def test_a_store_of_another_version_is_rejected(folder):
    Store.create(folder, fingerprint="f", width=8)
    header = {"format": 2, "whatever": True}
    with (
        lmdb.open(str(folder / "encodings-1.mdb"), subdir=False) as database,
        database.begin(write=True) as transaction,
    ):
        transaction.put(b"header", json.dumps(header).encode())
    with pytest.raises(CascadaError, match=r"another version of Cascada \(store format 2, this one reads 1\)"):
        Store.open(folder)


def test_a_store_replaced_by_another_models_is_not_mixed_up_with_it(folder, store, encoder):
    store.put(["a"], encoder.encode(["a"]))
    shutil.rmtree(folder)
    with pytest.raises(CascadaError, match="is not a store"):
        store.get(["a"])
    other = Store.create(folder, fingerprint="other", width=3)
    other.put(["a"], [np.ones((1, 3))])
    with pytest.raises(CascadaError):
        store.get(["a"])
    assert other.get(["a"])[0].shape == (1, 3)


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [
        (np.ones((2, 7)), r"has the shape \(2, 7\); this store takes \(tokens, 8\)"),
        (np.ones(8), r"has the shape \(8,\)"),
        (np.ones((0, 8)), r"has the shape \(0, 8\)"),
        (np.full((1, 8), np.nan), "not finite"),
    ],
)
def test_an_invalid_encoding_is_rejected_and_nothing_of_its_batch_is_written(store, encoder, encoding, sentence):
    with pytest.raises(CascadaError, match=sentence):
        store.put(["a", "b"], [encoder.encode(["a"])[0], encoding])
    assert len(store) == 0


def test_values_too_large_for_fp16_are_rejected(folder):
    store = Store.create(folder, fingerprint="f", width=1, form="fp16")
    with pytest.raises(CascadaError, match="too large for fp16"):
        store.put(["a"], [[[70000.0]]])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"form": "int4"}, "There is no number format 'int4': a store takes int8, fp16, fp32."),
        ({"width": 0}, "width is 0; it must be a whole number from 1."),
        ({"fingerprint": ""}, "A store needs the fingerprint of its encoder."),
    ],
)
def test_an_invalid_store_is_not_created(folder, changes, sentence):
    with pytest.raises(CascadaError, match=sentence):
        Store.create(folder, **({"fingerprint": "f", "width": 8} | changes))
    assert not folder.exists()


def test_a_new_store_overwrites_nothing(folder, store, tmp_path):
    with pytest.raises(CascadaError, match="is a store already"):
        Store.create(folder, fingerprint="f", width=8)
    (tmp_path / "letter.txt").write_text("dear")
    for occupied in (tmp_path, tmp_path / "letter.txt"):
        with pytest.raises(CascadaError, match="is not a store and not empty: give the store a folder of its own"):
            Store.create(occupied, fingerprint="f", width=8)
    with pytest.raises(CascadaError, match="is not a store of encodings: make one with `cascada encode`"):
        Store.open(tmp_path)


def test_a_store_opened_for_reading_cannot_be_written_to(folder, store, encoder):
    reader = Store.open(folder)
    for write in (lambda: reader.put(["a"], encoder.encode(["a"])), lambda: reader.remove([]), reader.compact):
        with pytest.raises(CascadaError, match="was opened for reading"):
            write()


def test_the_memory_map_grows_with_the_store(monkeypatch, folder):
    monkeypatch.setattr(lmdb_file, "SPARE_BYTES", 1 << 16)
    store = Store.create(folder, fingerprint="f", width=100, form="fp32")
    store.put(["large"], [np.ones((10_000, 100))])
    assert (store.get(["large"])[0] == 1).all()


def test_a_reader_sees_what_another_process_writes_beyond_its_map(monkeypatch, folder):
    monkeypatch.setattr(lmdb_file, "SPARE_BYTES", 1 << 16)
    Store.create(folder, fingerprint="f", width=100, form="fp32")
    reader = Store.open(folder)
    code = "import numpy; from cascada.store import Store; "
    code += "Store.open(sys.argv[1], write=True).put(['large'], [numpy.ones((10_000, 100))])"
    assert reader.get(["large"]) == [None]
    assert child(code, folder).wait() == 0
    assert (reader.get(["large"])[0] == 1).all()


def test_threads_read_while_one_writes_and_the_map_grows(monkeypatch, folder, encoder):
    monkeypatch.setattr(lmdb_file, "SPARE_BYTES", 1 << 14)
    store = Store.create(folder, fingerprint=encoder.fingerprint, width=encoder.width, form="fp32")
    known = {text: encoder.encode([text])[0].repeat(100, axis=0) for text in texts(40)}
    wrong, done = [], []

    def read():
        while not done:
            for text, encoding in zip(known, store.get(list(known)), strict=True):
                if encoding is not None and not np.array_equal(encoding, known[text]):
                    wrong.append(text)

    readers = [Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for text, encoding in known.items():
        store.put([text], [encoding])
    done.append(True)
    for reader in readers:
        reader.join()
    assert (wrong, len(store)) == ([], 40)
