"""Word vectors, from small files in the layouts of the large ones."""

import gzip
import struct

import numpy as np
import pytest

from cascada.core.errors import CascadaError
from cascada.text.vectors import vectors_for
from cascada.text.vectors.spacy_table import hash_of, read_map

WORDS = ["the", "paris", "nato", "zzz"]
FOUND = {"the": [1, 2, 3], "Paris": [4, 5, 6], "paris": [7, 8, 9], "NATO": [0.5, 0, -1], "other": [9, 9, 9]}
EXPECTED = [[1, 2, 3], [7, 8, 9], [0.5, 0, -1], [0, 0, 0]]


def lines():
    return [f"{word} {' '.join(map(str, numbers))}" for word, numbers in FOUND.items()]


def glove(path):
    path.write_text("\n".join(["the 1 2 3", ". . . 1 1 1", *lines()[1:]]) + "\n")  # 840B has words with spaces
    return path


def word2vec(path):
    path.write_text("\n".join([f"{len(FOUND)} 3", *lines()]) + " \n")
    return path


def packed(path):
    path.write_bytes(gzip.compress("\n".join(lines()).encode()))
    return path


def binary(path, between=b""):
    rows = b"".join(word.encode() + b" " + struct.pack("<3f", *numbers) + between for word, numbers in FOUND.items())
    path.write_bytes(f"{len(FOUND)} 3\n".encode() + rows)
    return path


def number(value):
    return struct.pack(">B", value) if value < 128 else b"\xcf" + struct.pack(">Q", value)


def spacy(folder):
    """spaCy's layout, below the folder of a package; Paris and the shared row of a word that was pruned."""
    vocab = folder / "en_core_web_md-3.7.1" / "vocab"
    vocab.mkdir(parents=True)
    with open(vocab / "vectors", "wb") as file:
        np.save(file, np.array(list(FOUND.values()), np.float32))
    entries = [number(hash_of(word)) + number(row) for row, word in enumerate(FOUND)]
    (vocab / "key2row").write_bytes(bytes([0x80 | len(entries)]) + b"".join(entries))
    return folder


LAYOUTS = {
    "GloVe": (glove, "glove.txt"),
    "word2vec text": (word2vec, "vectors.txt"),
    "gzipped": (packed, "vectors.txt.gz"),
    "word2vec binary": (binary, "vectors.bin"),
    "binary with line ends": (lambda path: binary(path, b"\n"), "vectors.bin"),
    "spaCy": (spacy, "package"),
}


@pytest.mark.parametrize(("write", "name"), LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_gives_the_same_vectors_zeros_for_a_word_it_has_not(tmp_path, write, name):
    table, known = vectors_for(WORDS, write(tmp_path / name))
    assert table.tolist() == EXPECTED
    assert known.tolist() == [True, True, True, False]
    assert table.dtype == np.float32


def test_a_word_known_only_as_a_name_gets_the_names_vector(tmp_path):
    (tmp_path / "some.txt").write_text("Paris 1 2\nPARIS 3 4\n")
    assert vectors_for(["paris"], tmp_path / "some.txt")[0].tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("word", "known"),
    [("coffee", 3197928453018144401), ("apple", 8566208034543834098), ("international", 6392893036165415004)],
)
def test_hashes_are_spacys(word, known):
    assert hash_of(word) == known


def test_a_map_of_many_entries_with_numbers_of_every_width():
    body = b"".join(b"\xcf" + struct.pack(">Q", key) + b"\xcd" + struct.pack(">H", key % 999) for key in range(500))
    assert read_map(b"\xde" + struct.pack(">H", 500) + body) == {key: key % 999 for key in range(500)}
    assert read_map(b"\x82\x05\xcc\xff\xce\x00\x01\x00\x00\x07") == {5: 255, 65536: 7}


MISTAKES = {
    "not there": (None, "There are no word vectors at"),
    "numbers missing": ("the 1 2 3\nof 1 2\n", "line 2: expected a word and 3 numbers, found 3 fields"),
    "words for numbers": ("the 1 x 3\n", "line 1: expected numbers after the word"),
    "of another language": ("der 1 2 3\n", "has vectors for none of the words"),
}


@pytest.mark.parametrize(("content", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_file_that_cannot_be_used_is_reported_in_a_sentence(tmp_path, content, said):
    path = tmp_path / "vectors.txt"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CascadaError, match=said):
        vectors_for(WORDS, path)


def test_a_binary_file_that_was_cut_off(tmp_path):
    path = binary(tmp_path / "vectors.bin")
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(CascadaError, match="ends before the last of its 5 vectors"):
        vectors_for(WORDS, path)
    path.write_bytes(b"what is this")
    with pytest.raises(CascadaError, match="does not begin with two counts"):
        vectors_for(WORDS, path)


def test_a_packed_file_that_was_cut_off(tmp_path):
    path = packed(tmp_path / "vectors.txt.gz")
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(CascadaError, match=r"vectors\.txt\.gz cannot be read"):
        vectors_for(WORDS, path)


def test_a_folder_without_a_table(tmp_path):
    with pytest.raises(CascadaError, match="has no table of word vectors"):
        vectors_for(WORDS, tmp_path)
    damaged = spacy(tmp_path / "package")
    (next(damaged.rglob("key2row"))).write_bytes(b"\x85\x01\x02")
    with pytest.raises(CascadaError, match="key2row holds 1 entries but declares 5"):
        vectors_for(WORDS, damaged)
