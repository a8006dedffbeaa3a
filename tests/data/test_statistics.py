from collections.abc import Iterator

import pytest

from cascada.core.errors import CascadaError
from cascada.data import MODES, Candidate, Group, read, select, statistics, statistics_by_mode


def labelled(*labels):
    return Group("q", tuple(Candidate("t", label) for label in labels))


MIXED, NEGATIVE, POSITIVE, UNLABELLED, EMPTY = (
    labelled(0, 1, 1),
    labelled(0, 0),
    labelled(1),
    labelled(None),
    labelled(),
)
ALL = [MIXED, NEGATIVE, POSITIVE, UNLABELLED, EMPTY]


@pytest.mark.parametrize(
    ("mode", "kept"), [("raw", ALL), ("no-all-negative", [MIXED, POSITIVE]), ("clean", [MIXED])], ids=MODES
)
def test_a_mode_keeps_the_questions_the_papers_keep(mode, kept):
    assert list(select(ALL, mode)) == kept


def test_selecting_streams():
    def endless() -> Iterator[Group]:
        while True:
            yield MIXED

    assert next(select(endless(), "clean")) == MIXED


def test_an_unknown_mode_is_rejected_before_anything_is_read():
    with pytest.raises(CascadaError, match="no mode 'cleanest'; the modes are raw, no-all-negative, clean"):
        select([], "cleanest")


def test_statistics_count_what_the_tables_print():
    counted = statistics([MIXED, NEGATIVE, POSITIVE])
    assert (counted.questions, counted.pairs, counted.positives) == (3, 6, 3)
    assert (counted.average_candidates, counted.average_correct) == (2.0, 1.0)


def test_statistics_of_nothing_are_zero():
    assert statistics([]).to_dict() == {
        "questions": 0,
        "pairs": 0,
        "positives": 0,
        "average_candidates": 0.0,
        "average_correct": 0.0,
    }


def test_one_pass_counts_every_mode_as_selecting_it_would():
    assert statistics_by_mode(iter(ALL)) == {mode: statistics(select(ALL, mode)) for mode in MODES}


def test_pairs_are_counted_per_grade_where_there_are_grades(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("q\ta\t4\nq\tb\t1\nq\tc\t1\nr\td\t3\n")
    assert statistics(read(f"asnq:{path}")).to_dict()["grades"] == {"1": 2, "3": 1, "4": 1}
