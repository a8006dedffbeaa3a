"""Full disks, truncated files and flipped bits end in one sentence, and intact entries are kept."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hashing import child, texts

from cascada.core.errors import CascadaError
from cascada.store import Store, check_structure, damaged_keys, fill
from cascada.store.entries import key_of

FULL = """
import resource
from cascada.store import Store
encoder = HashingEncoder()
store = Store.open(sys.argv[1], write=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
for number in range(1000):
    try:
        store.put([f"text {number}"], [encoder.encode(["word"])[0].repeat(1000, axis=0)])
    except ValueError as error:
        print(type(error).__name__, error)
        break
print(number, len(store))
store.get(["text 0"])[0].shape == (1000, 8) or sys.exit("lost")
"""


def data_file(folder):
    return folder / "encodings-1.mdb"


def flip_a_bit(folder, text, store):
    """Change one bit in the middle of a text's entry, as a failing disk would."""
    values = store.walk(lambda key, value: bytes(value) if key == key_of(text) else None)
    body = next(value for value in values if value)
    content = bytearray(data_file(folder).read_bytes())
    content[content.index(body) + len(body) // 2] ^= 1
    data_file(folder).write_bytes(content)


def test_a_full_disk_is_one_sentence_and_the_store_stays_usable(folder, store):
    done = child(FULL, folder)
    out, error = done.communicate(timeout=300)
    assert error == ""
    sentence, counted = out.splitlines()
    assert sentence.startswith(f"CascadaError There is no room left for {folder} (")
    assert sentence.endswith("). Finished texts are kept: free some space and resume.")
    attempted, stored = map(int, counted.split())
    assert 0 < attempted == stored == len(store)
    check_structure(folder)
    assert list(damaged_keys(store)) == []
    store.put(["one more"], store.get(["text 0"]))
    assert len(store) == stored + 1


def test_damaged_entries_are_found_removed_and_encoded_again(folder, store, encoder):
    fill(store, encoder, texts(50))
    flip_a_bit(folder, texts(50)[20], store)
    damaged = list(damaged_keys(store))
    assert damaged == [key_of(texts(50)[20])]
    store.remove(damaged)
    assert fill(store, encoder, texts(50)) == 1
    assert list(damaged_keys(store)) == []


def test_a_value_under_another_entrys_key_is_damaged(store, encoder):
    store.put(["a", "b"], encoder.encode(["a", "b"]))
    values = dict(store.walk(lambda key, value: (key, bytes(value))))
    a, b = key_of("a"), key_of("b")
    store._environment.run(lambda transaction: transaction.put(a, values[b]), write=True)
    assert list(damaged_keys(store)) == [a]


def test_an_entry_of_a_wrong_length_is_an_error_when_it_is_read(store):
    store._environment.run(lambda transaction: transaction.put(key_of("a"), b"short"), write=True)
    with pytest.raises(CascadaError, match="The store has a damaged entry: `cascada store verify` finds which"):
        store.get(["a"])
    assert list(damaged_keys(store)) == [key_of("a")]


def filled(folder, encoder):
    """The folder of a store that is closed again."""
    store = Store.create(folder, fingerprint=encoder.fingerprint, width=encoder.width)
    store.put(texts(50), [encoding.repeat(500, axis=0) for encoding in encoder.encode(texts(50))])
    return folder


def test_a_truncated_file_is_rejected(folder, encoder):
    filled(folder, encoder)
    os.truncate(data_file(folder), 300_000)
    for write in (False, True):
        with pytest.raises(CascadaError, match=r"store is damaged \(its end is missing\): build it again"):
            Store.open(folder, write=write)
    with pytest.raises(CascadaError, match="damaged beyond single entries"):
        check_structure(folder)


@pytest.mark.parametrize("content", [b"", b"hello" * 4000])
def test_a_file_that_is_not_lmdb_is_rejected(folder, content):
    folder.mkdir()
    data_file(folder).write_bytes(content)
    with pytest.raises(CascadaError, match="store"):
        Store.open(folder)
    with pytest.raises(CascadaError, match="damaged beyond single entries"):
        check_structure(folder)


def test_damaged_pages_are_found_without_opening_the_file(folder, encoder):
    content = bytearray(data_file(filled(folder, encoder)).read_bytes())
    check_structure(folder)
    at = content.index(key_of(texts(50)[3]))
    content[at - 8 : at] = b"\xff" * 8
    data_file(folder).write_bytes(content)
    with pytest.raises(CascadaError, match="damaged beyond single entries"):
        check_structure(folder)


READ = """
import os
from cascada.store import Store
if os.geteuid() == 0:  # root may do everything
    os.setegid(65534)
    os.seteuid(65534)
print(len(Store.open(sys.argv[1])))
try:
    Store.open(sys.argv[1], write=True)
except ValueError as error:
    print(error)
"""


def test_a_store_can_be_read_without_permission_to_write(encoder):
    with TemporaryDirectory() as open_to_all:
        os.chmod(open_to_all, 0o755)
        folder = filled(Path(open_to_all, "store"), encoder)
        for name in os.listdir(folder):
            os.chmod(folder / name, 0o444)
        os.chmod(folder, 0o555)
        out, error = child(READ, folder).communicate(timeout=300)
        os.chmod(folder, 0o755)
    assert (error, out) == ("", f"50\n{folder} cannot be used: {data_file(folder)}: Permission denied.\n")
