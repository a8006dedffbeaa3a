"""The arithmetic of docs/capacity.md, on round figures, and the page's tables."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))  # its scripts import each other as they do when they are run

import capacity  # noqa: E402

WANTED = capacity.Wanted(documents=1e6, questions=100, candidates=100, busy=0.5, cores=10, disk=1e9, copies=2)


def test_a_ranker_that_keeps_nothing_needs_cores_alone():
    found = capacity.needs(capacity.Cost(question=0.0, candidate=0.01), WANTED)
    assert found.core_seconds == pytest.approx(1.0)  # 100 candidates of 10 ms
    assert found.cores == 200  # 100 questions of a second, on cores that are busy half of the time
    assert found.machines == 20
    assert (found.shards, found.asked, found.disk, found.reads) == (1, 1.0, 0, 0)


def test_documents_that_do_not_fit_one_disk_are_cut_into_shards():
    found = capacity.needs(capacity.Cost(question=0.0, candidate=0.0001, stored=1999), WANTED)
    assert found.shards == 2  # 1.999 GB on disks of 1 GB
    assert found.cores == 2
    assert found.machines == 4  # two copies of each
    assert found.disk == pytest.approx(2 * 1999e6)
    assert found.reads == 2500  # 10,000 a second over four machines


def test_every_shard_that_is_asked_reads_the_question_itself():
    found = capacity.needs(capacity.Cost(question=0.1, candidate=0.0, stored=10_000), WANTED)
    assert found.shards == 10
    assert found.asked == pytest.approx(10 * (1 - 0.9**100))  # nearly all ten have one of a hundred candidates
    assert found.core_seconds == pytest.approx(0.1 * found.asked)


def test_more_cores_than_copies_have_are_more_copies():
    found = capacity.needs(capacity.Cost(question=0.0, candidate=0.01, stored=1999), WANTED)
    assert found.cores == 200
    assert found.machines == 20  # ten copies of two shards
    assert found.disk == pytest.approx(10 * 1999e6)


def test_two_measured_times_make_a_line():
    cost = capacity.cost_of({"10": 0.3, "100": 2.1}, 5)
    assert cost.candidate == pytest.approx(0.02)
    assert cost.question == pytest.approx(0.1)
    assert cost.stored == 5


def test_noise_does_not_make_a_question_cost_less_than_nothing():
    assert capacity.cost_of({"10": 0.1, "100": 1.9}, 0).question == 0


@pytest.mark.parametrize("name", ["capacity-sentences.json", "capacity-paragraphs.json"])
def test_the_page_has_the_tables_that_the_script_prints(name):
    measured = json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")
    for table in capacity.tables(measured, capacity.Wanted()).split("\n\n"):
        assert table in page
