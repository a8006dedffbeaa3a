"""`cascada store`, as a user runs it."""

import json
import sys

import pytest
from hashing import HashingEncoder, texts
from test_imports import python

from cascada.cli.main import main
from cascada.store import Store
from cascada.store.entries import key_of


@pytest.fixture
def cascada(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["cascada", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture
def store(tmp_path):
    found = Store.create(tmp_path / "s", fingerprint="hashing-8", width=8)
    found.put(texts(50), HashingEncoder(8).encode(texts(50)))
    return found


def test_stats_count_documents_tokens_and_bytes(cascada, store):
    code, out, error = cascada("store", "stats", "s", "--json")
    assert (code, error) == (0, "")
    tokens = sum(len(text.split()) for text in texts(50))
    assert json.loads(out) == {
        "documents": 50,
        "tokens": tokens,
        "entry_bytes": 50 * 4 + tokens * (8 + 4),
        "file_bytes": store.file_bytes,
        "bytes_per_document": round(store.file_bytes / 50, 1),
        "tokens_per_document": round(tokens / 50, 1),
        "fingerprint": "hashing-8",
        "width": 8,
        "form": "int8",
        "format": 1,
    }
    assert "hashing-8" in cascada("store", "stats", "s")[1]


def test_an_empty_store_has_stats_too(cascada, tmp_path):
    Store.create("empty", fingerprint="f", width=8)
    assert json.loads(cascada("store", "stats", "empty", "--json")[1])["bytes_per_document"] == 0


def test_verify_names_damaged_entries_and_removes_them_if_asked(cascada, store):
    assert cascada("store", "verify", "s") == (0, "s: 50 texts, 0 of them damaged\n", "")
    key = key_of(texts(50)[7])
    store._environment.run(lambda transaction: transaction.put(key, b"damaged"), write=True)
    assert cascada("store", "verify", "s") == (
        2,
        f"{key.hex()}\ns: 50 texts, 1 of them damaged\n",
        "cascada: s has damaged entries: remove them with --remove, then run `cascada encode` again.\n",
    )
    code, out, _ = cascada("store", "verify", "s", "--json")
    assert (code, json.loads(out)) == (2, {"documents": 50, "damaged": [key.hex()], "removed": False})
    assert cascada("store", "verify", "s", "--remove")[:2] == (
        0,
        f"{key.hex()}\ns: 50 texts, 1 of them damaged and removed\n",
    )
    assert store.missing(texts(50)) == [texts(50)[7]]


def test_compact_makes_it_smaller(cascada, store):
    store.remove(key_of(text) for text in texts(45))
    found = json.loads(cascada("store", "compact", "s", "--json")[1])
    assert found["bytes_after"] < found["bytes_before"]
    assert len(store) == 5
    assert cascada("store", "compact", "s")[1].startswith("s: ")


@pytest.mark.parametrize("command", ["stats", "verify", "compact"])
def test_what_is_no_store_is_one_sentence(cascada, command):
    sentence = "cascada: nowhere is not a store of encodings: make one with `cascada encode`.\n"
    assert cascada("store", command, "nowhere") == (2, "", sentence)


def test_without_lmdb_the_extra_is_named():
    code = "import sys; sys.modules['lmdb'] = None; sys.argv = ['cascada', 'store', 'stats', 's']; "
    done = python(code + "from cascada.cli.main import main; main()")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'cascada: a store of encodings needs lmdb: pip install "cascada[store]"\n'
