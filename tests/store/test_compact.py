"""A store is compacted while others use it."""

import os

from hashing import child, texts

from cascada.store import Store, check_structure
from cascada.store.entries import key_of

USER = """
from cascada.store import Store
store = Store.open(sys.argv[1], write=True)
for line in sys.stdin:
    store.put([line.strip()], HashingEncoder().encode([line.strip()]))
    print(len(store), flush=True)
"""


def data_files(folder):
    return [name for name in os.listdir(folder) if not name.endswith("-lock")]


def test_free_pages_are_removed_and_entries_are_kept(folder, store, encoder):
    store.put(texts(400), encoder.encode(texts(400)))
    store.remove(key_of(text) for text in texts(400)[:390])
    before = store.file_bytes
    store.compact()
    assert store.file_bytes < before / 2
    assert data_files(folder) == ["encodings-2.mdb"]
    assert store.missing(texts(400)) == texts(400)[:390]
    check_structure(folder)


def test_another_process_keeps_writing_to_the_compacted_store(folder, store, encoder):
    user = child(USER, folder)
    for round_, word in enumerate(["one", "two", "three"], 1):
        user.stdin.write(f"{word}\n")
        assert user.stdout.readline() == f"{round_}\n"
        store.compact()
    user.stdin.close()
    assert user.wait() == 0
    assert store.missing(["one", "two", "three"]) == []
    assert len(Store.open(folder)) == 3


def test_leftovers_of_a_killed_compacting_are_removed(folder, store, encoder):
    store.put(["a"], encoder.encode(["a"]))
    (folder / "compacting.part").write_bytes(b"half")
    (folder / "encodings-0.mdb-lock").write_bytes(b"")
    store.compact()
    assert os.listdir(folder) == ["encodings-2.mdb"]
    assert "a" in store
