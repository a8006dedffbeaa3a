"""The arithmetic of docs/capacity.md, on round numbers, and the page's tables."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))  # its scripts import each other

import capacity  # noqa: E402

WORKLOAD = capacity.Workload(documents=1e6, questions=100, candidates=100, busy=0.5, cores=10, disk=1e9, copies=2)


def test_a_ranker_that_stores_nothing_needs_only_cores():
    needs = capacity.requirements(capacity.Cost(question=0.0, candidate=0.01), WORKLOAD)
    assert needs.core_seconds == pytest.approx(1.0)  # 100 candidates of 10 ms
    assert needs.cores == 200  # 100 questions of a second, on cores that are busy half of the time
    assert needs.machines == 20
    assert (needs.shards, needs.asked, needs.disk, needs.reads) == (1, 1.0, 0, 0)


def test_documents_that_do_not_fit_one_disk_are_split_into_shards():
    needs = capacity.requirements(capacity.Cost(question=0.0, candidate=0.0001, stored=1999), WORKLOAD)
    assert needs.shards == 2  # 1.999 GB on disks of 1 GB
    assert needs.cores == 2
    assert needs.machines == 4  # two copies of each
    assert needs.disk == pytest.approx(2 * 1999e6)
    assert needs.reads == 2500  # 10,000 per second over four machines


def test_every_shard_with_candidates_encodes_the_question_itself():
    needs = capacity.requirements(capacity.Cost(question=0.1, candidate=0.0, stored=10_000), WORKLOAD)
    assert needs.shards == 10
    assert needs.asked == pytest.approx(10 * (1 - 0.9**100))  # nearly all ten hold one of a hundred candidates
    assert needs.core_seconds == pytest.approx(0.1 * needs.asked)


def test_more_cores_than_the_copies_have_need_more_copies():
    needs = capacity.requirements(capacity.Cost(question=0.0, candidate=0.01, stored=1999), WORKLOAD)
    assert needs.cores == 200
    assert needs.machines == 20  # ten copies of two shards
    assert needs.disk == pytest.approx(10 * 1999e6)


def test_a_line_is_fitted_through_two_measured_times():
    cost = capacity.cost_of({"10": 0.3, "100": 2.1}, 5)
    assert cost.candidate == pytest.approx(0.02)
    assert cost.question == pytest.approx(0.1)
    assert cost.stored == 5


def test_noise_does_not_make_the_cost_of_a_question_negative():
    assert capacity.cost_of({"10": 0.1, "100": 1.9}, 0).question == 0


@pytest.mark.parametrize("name", ["capacity-sentences.json", "capacity-paragraphs.json"])
def test_the_page_has_the_tables_that_the_script_prints(name):
    measured = json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")
    for table in capacity.tables(measured, capacity.Workload()).split("\n\n"):
        assert table in page
