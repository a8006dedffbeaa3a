"""Full disks, broken files, bytes that have turned: a sentence, and the rest is kept."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hashing import child, texts

from cascada.core.errors import CascadaError
from cascada.store import Store, check_structure, damaged, entry, fill

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


def turn(folder, text, store):
    """Change a byte in the middle of a text's entry, as a failing disk would."""
    value = store.walk(lambda key, value: bytes(value) if key == entry.key(text) else None)
    body = next(found for found in value if found)
    content = bytearray(data_file(folder).read_bytes())
    content[content.index(body) + len(body) // 2] ^= 1
    data_file(folder).write_bytes(content)


def test_a_full_disk_is_one_sentence_and_the_store_goes_on(folder, store):
    done = child(FULL, folder)
    out, error = done.communicate(timeout=300)
    assert error == ""
    told, counted = out.splitlines()
    assert told.startswith(f"CascadaError There is no room left for {folder} (")
    assert told.endswith("; what was finished is in it: make room and go on.")
    attempted, there = map(int, counted.split())
    assert 0 < attempted == there == len(store)
    check_structure(folder)
    assert list(damaged(store)) == []
    store.put(["one more"], store.get(["text 0"]))
    assert len(store) == there + 1


def test_damaged_entries_are_found_removed_and_filled_in_again(folder, store, encoder):
    fill(store, encoder, texts(50))
    turn(folder, texts(50)[20], store)
    found = list(damaged(store))
    assert found == [entry.key(texts(50)[20])]
    store.remove(found)
    assert fill(store, encoder, texts(50)) == 1
    assert list(damaged(store)) == []


def test_an_entry_in_anothers_place_is_damaged(store, encoder):
    store.put(["a", "b"], encoder.encode(["a", "b"]))
    values = dict(store.walk(lambda key, value: (key, bytes(value))))
    a, b = entry.key("a"), entry.key("b")
    store._environment.run(lambda transaction: transaction.put(a, values[b]), write=True)
    assert list(damaged(store)) == [a]


def test_an_entry_of_a_wrong_length_is_told_of_when_it_is_read(store):
    store._environment.run(lambda transaction: transaction.put(entry.key("a"), b"short"), write=True)
    with pytest.raises(CascadaError, match="The store has a damaged entry: `cascada store verify` finds which"):
        store.get(["a"])
    assert list(damaged(store)) == [entry.key("a")]


def filled(folder, encoder):
    """A store that is not open any more."""
    store = Store.create(folder, fingerprint=encoder.fingerprint, width=encoder.width)
    store.put(texts(50), [one.repeat(500, axis=0) for one in encoder.encode(texts(50))])
    return folder


def test_a_file_whose_end_is_missing_is_refused(folder, encoder):
    filled(folder, encoder)
    os.truncate(data_file(folder), 300_000)
    for opened in (lambda: Store.open(folder), lambda: Store.open(folder, write=True)):
        with pytest.raises(CascadaError, match=r"store is damaged \(its end is missing\): make it anew"):
            opened()
    with pytest.raises(CascadaError, match="damaged beyond single entries"):
        check_structure(folder)


@pytest.mark.parametrize("content", [b"", b"hello" * 4000])
def test_a_file_of_something_else_is_refused(folder, content):
    folder.mkdir()
    data_file(folder).write_bytes(content)
    with pytest.raises(CascadaError, match="store"):
        Store.open(folder)
    with pytest.raises(CascadaError, match="damaged beyond single entries"):
        check_structure(folder)


def test_damaged_pages_are_found_without_opening_the_file(folder, encoder):
    content = bytearray(data_file(filled(folder, encoder)).read_bytes())
    check_structure(folder)
    at = content.index(entry.key(texts(50)[3]))
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


def test_who_may_not_write_may_read(encoder):
    with TemporaryDirectory() as open_to_all:
        os.chmod(open_to_all, 0o755)
        folder = filled(Path(open_to_all, "store"), encoder)
        for name in os.listdir(folder):
            os.chmod(folder / name, 0o444)
        os.chmod(folder, 0o555)
        out, error = child(READ, folder).communicate(timeout=300)
        os.chmod(folder, 0o755)
    assert (error, out) == ("", f"50\n{folder} cannot be used: {data_file(folder)}: Permission denied.\n")
