"""The bytes of a store on disk: stores made before must still open."""

import json
from hashlib import sha256
from zlib import crc32

import lmdb
import numpy as np
import pytest

from cascada.store import Store, damaged_keys

SCALES = np.array([0.5, 2], "<f4")
STEPS = np.array([[1, -127], [127, 0]], "i1")
VALUES = [[0.5, -63.5], [254, 0]]
BODIES = {
    "int8": SCALES.tobytes() + STEPS.tobytes(),
    "fp16": np.array(VALUES, "<f2").tobytes(),
    "fp32": np.array(VALUES, "<f4").tobytes(),
}


@pytest.mark.parametrize("form", BODIES)
def test_a_store_written_by_hand_opens(folder, form):
    folder.mkdir()
    header = {"fingerprint": "f", "width": 2, "form": form, "format": 1}
    key = sha256(b"a").digest()
    value = crc32(key + BODIES[form]).to_bytes(4, "little") + BODIES[form]
    with (
        lmdb.open(str(folder / "encodings-1.mdb"), subdir=False) as database,
        database.begin(write=True) as transaction,
    ):
        transaction.put(b"header", json.dumps(header).encode())
        transaction.put(key, value)
    store = Store.open(folder, fingerprint="f", write=True)
    np.testing.assert_array_equal(store.get(["a"])[0], VALUES)
    assert list(damaged_keys(store)) == []
    store.put(["a"], [VALUES])
    assert list(store.walk(lambda key, value: (key, bytes(value)))) == [(key, value)]
