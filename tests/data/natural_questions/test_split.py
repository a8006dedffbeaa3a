"""ASNQ's dev set is split in two, by lists of questions or at random."""

import random

import pytest

from cascada.core.errors import DataError
from cascada.data import read
from cascada.data.natural_questions import halved, listed, write_splits

ROWS = [f"question {number}\tsentence {label}\t{label}\n" for number in range(7) for label in (1, 4)]


@pytest.fixture
def whole(tmp_path):
    """Shuffled, as ASNQ is released."""
    path = tmp_path / "whole.tsv"
    path.write_text("".join(random.Random(0).sample(ROWS, len(ROWS))))
    return path


def lists(folder, **questions):
    for name, numbers in questions.items():
        (folder / f"unique.{name}").write_text("".join(f"question {number} \n" for number in numbers))
    return {name: folder / f"unique.{name}" for name in questions}


def questions(path):
    return sorted(int(group.question.split()[1]) for group in read(f"asnq:{path}"))


def test_lists_say_which_question_goes_where(whole, tmp_path):
    done = write_splits(whole, listed(lists(tmp_path, dev=[0, 1, 2], test=[3, 4, 99])), tmp_path / "out")
    assert questions(tmp_path / "out" / "dev.tsv") == [0, 1, 2]
    assert questions(tmp_path / "out" / "test.tsv") == [3, 4]
    dev = done.counted["dev"]
    assert (dev.questions, dev.pairs, dev.grades) == (3, 6, {1: 3, 4: 3})
    assert (done.unlisted.questions, done.unlisted.pairs) == (2, 4)
    assert done.absent == {"dev": 0, "test": 1}


def test_lines_stay_as_they_are_and_in_order(whole, tmp_path):
    write_splits(whole, listed(lists(tmp_path, dev=[0, 1, 2], test=[3])), tmp_path)
    kept = [row for row in whole.read_text().splitlines() if int(row[9]) < 3]
    assert (tmp_path / "dev.tsv").read_text().splitlines() == kept


def test_halves_are_halves_and_the_same_for_the_same_seed(whole, tmp_path):
    first = halved(whole, seed=1)
    write_splits(whole, first, tmp_path)
    dev, test = questions(tmp_path / "dev.tsv"), questions(tmp_path / "test.tsv")
    assert (len(dev), len(test), sorted(dev + test)) == (4, 3, list(range(7)))
    (tmp_path / "sorted.tsv").write_text("".join(sorted(ROWS)))
    assert halved(tmp_path / "sorted.tsv", seed=1) == first
    assert any(halved(whole, seed) != first for seed in range(2, 5))


def test_a_question_in_both_lists_is_a_mistake(tmp_path):
    with pytest.raises(DataError, match=r"unique\.test, line 2: 'question 1' is also in the list for dev"):
        listed(lists(tmp_path, dev=[1], test=[2, 1]))


def test_a_split_without_questions_leaves_both_unwritten(whole, tmp_path):
    with pytest.raises(DataError, match=r"test\.tsv was not written: .*whole\.tsv has none of its questions"):
        write_splits(whole, listed(lists(tmp_path, dev=[1], test=[99])), tmp_path)
    assert not list(tmp_path.glob("dev.tsv"))


def test_the_file_is_not_split_onto_itself(whole, tmp_path):
    own = whole.rename(tmp_path / "dev.tsv")
    with pytest.raises(DataError, match="would be overwritten by its own split"):
        write_splits(own, halved(own, seed=1), tmp_path)
    assert questions(own) == list(range(7))
