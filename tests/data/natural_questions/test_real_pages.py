"""Two real pages and ASNQ's lists of questions. Set CASCADA_DATA to a folder with natural_questions/ and asnq/."""

import os
from pathlib import Path

import pytest

from cascada.data import statistics
from cascada.data.natural_questions import Skipped, line_results, listed

DATA = Path(os.environ.get("CASCADA_DATA", "absent"))

pytestmark = pytest.mark.skipif("CASCADA_DATA" not in os.environ, reason="CASCADA_DATA is not set")


def test_a_page_with_an_answer_gives_labelled_sentences():
    (group,) = line_results([DATA / "natural_questions" / "dev_sample.jsonl"])
    assert statistics([group]).grades == {1: 230, 2: 3, 3: 3, 4: 1}
    (answer,) = (candidate.text for candidate in group.candidates if candidate.label)
    assert answer.startswith("Tracy McConnell , better known as `` The Mother '' , is the title character")


def test_a_page_without_one_gives_none():
    assert list(line_results([DATA / "natural_questions" / "train_sample.jsonl"])) == [Skipped.NO_LONG_ANSWER]


def test_the_lists_halve_the_dev_sets_questions():
    folder = DATA / "asnq" / "question_splits"
    chosen = listed({split: folder / f"unique.{split}" for split in ("dev", "test")})
    assert [list(chosen.values()).count(split) for split in ("dev", "test")] == [1336, 1336]
