"""Rows become groups, whether or not they stand together, and never with the whole file in memory."""

import random
import tempfile
import tracemalloc

import pytest

from cascada.data import Candidate, Group, read, statistics
from cascada.data import grouping as gather
from cascada.data.grouping import Row, grouped


def test_rows_of_one_question_form_one_group_wherever_they_stand():
    rows = [Row(question, Candidate(text)) for question, text in ["qa", "rb", "qc", "sd", "re"]]
    assert [(group.question, "".join(group.texts)) for group in grouped(lambda: iter(rows))] == [
        ("q", "ac"),
        ("r", "be"),
        ("s", "d"),
    ]


def test_shuffled_rows_come_out_as_sorted_ones_do_across_many_files(monkeypatch):
    monkeypatch.setattr(gather, "QUESTIONS_PER_FILE", 3)
    monkeypatch.setattr(gather, "ROWS_IN_MEMORY", 7)
    rows = [
        Row(f"q{number % 10}", Candidate(str(number), 0, f"c{number}", 2), f"id{number % 10}") for number in range(100)
    ]
    together = sorted(rows, key=lambda row: row.question)
    assert list(grouped(lambda: iter(rows))) == list(grouped(lambda: iter(together)))
    assert next(iter(grouped(lambda: iter(rows)))).id == "id0"


def test_nothing_stays_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = [Row(question, Candidate("")) for question in "abab"]
    stream = grouped(lambda: iter(rows))
    assert next(stream) == Group("a", (Candidate(""), Candidate("")))
    assert len(list(tmp_path.iterdir())) == 1
    stream.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("lines", "shuffled"), [(60_000, False), (40_000, True)], ids=["in order", "shuffled"])
def test_a_large_file_is_read_in_bounded_memory(tmp_path, monkeypatch, lines, shuffled):
    monkeypatch.setattr(gather, "QUESTIONS_PER_FILE", 20)
    monkeypatch.setattr(gather, "ROWS_IN_MEMORY", 1_000)
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
