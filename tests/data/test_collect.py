"""Rows become groups in one pass, whether or not a question's rows are adjacent, and in bounded memory."""

import random
import tempfile
import tracemalloc

import pytest

from cascada.core.errors import DataError
from cascada.data import Candidate, Group, collect, read, statistics
from cascada.data.collect import Row, grouped


@pytest.fixture
def on_disk(monkeypatch, tmp_path):
    """Temporary files for more than 7 rows, in a folder that the test can look into."""
    monkeypatch.setattr(collect, "QUESTIONS_PER_FILE", 3)
    monkeypatch.setattr(collect, "ROWS_IN_MEMORY", 7)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def rows_of(letters):
    return [Row(question, Candidate(text)) for question, text in letters]


def summary(groups):
    return [(group.question, "".join(group.texts)) for group in groups]


def test_rows_of_one_question_form_one_group_wherever_they_are():
    rows = rows_of(["qa", "rb", "qc", "sd", "re"])
    assert summary(grouped(rows)) == [("q", "ac"), ("r", "be"), ("s", "d")]


def test_the_data_is_read_once(on_disk):
    for letters in (["qa", "qb", "rc"], ["qa", "qb", "rc"] * 10):
        stream = iter(rows_of(letters))
        assert [group.question for group in grouped(stream)] == ["q", "r"]
        assert next(stream, None) is None


@pytest.mark.parametrize("count", [0, 6, 7, 8, 14, 15, 100])
def test_shuffled_rows_come_out_as_sorted_ones_do_in_memory_and_on_disk(on_disk, count):
    rows = [
        Row(f"q{number % 10}", Candidate(str(number), 0, f"c{number}", 2), f"id{number % 10}")
        for number in range(count)
    ]
    adjacent = sorted(rows, key=lambda row: row.question)
    expected = [
        Group(f"q{key}", tuple(row.candidate for row in rows if row.question == f"q{key}"), f"id{key}")
        for key in range(min(count, 10))
    ]
    assert list(grouped(rows)) == list(grouped(adjacent)) == expected


def test_a_question_with_another_id_is_another_question():
    rows = [Row("who?", Candidate("a"), "1"), Row("who?", Candidate("b"), "2"), Row("who?", Candidate("c"), "1")]
    assert [(group.id, group.texts) for group in grouped(rows)] == [("1", ("a", "c")), ("2", ("b",))]


def test_nothing_stays_in_the_temporary_folder(on_disk):
    stream = grouped(rows_of(["a.", "b."] * 5))
    assert next(stream) == Group("a", (Candidate("."),) * 5)
    assert len(list(on_disk.iterdir())) == 1
    stream.close()
    assert not list(on_disk.iterdir())


def test_rows_that_fit_in_memory_need_no_disk(on_disk):
    list(grouped(rows_of(["a.", "b.", "a."])))
    stream = grouped(rows_of(["a."] * 7))
    next(stream)
    assert not list(on_disk.iterdir())


def test_a_full_disk_is_reported_with_what_to_do(on_disk, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(on_disk / "nowhere"))
    with pytest.raises(DataError, match=r"cannot be grouped by question in temporary files: .* \(see TMPDIR\)"):
        list(grouped(rows_of(["a."] * 8)))


@pytest.mark.parametrize(("lines", "shuffled"), [(60_000, False), (40_000, True)], ids=["in order", "shuffled"])
def test_a_large_file_is_read_in_bounded_memory(tmp_path, monkeypatch, lines, shuffled):
    monkeypatch.setattr(collect, "QUESTIONS_PER_FILE", 20)
    monkeypatch.setattr(collect, "ROWS_IN_MEMORY", 1_000)
    numbers = list(range(lines))
    if shuffled:
        random.Random(0).shuffle(numbers)
    path = tmp_path / "train.tsv"
    with path.open("w") as file:
        file.writelines(f"question {number // 100}\tone of many sentences, {number}\t1\n" for number in numbers)
    tracemalloc.start()
    try:
        counted = statistics(read(f"asnq:{path}"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (counted.questions, counted.pairs) == (lines // 100, lines)
    assert peak < 1_500_000  # the smaller file, whole and as objects, takes ten times that
