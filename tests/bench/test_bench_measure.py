"""Engines are timed in turn, each in its own process; the row of one that fails says why."""

import json
import re

import pytest

from cascada.bench.engines import FULL_INT8, Engine, engines_named
from cascada.bench.measure import OWN_LISTS, MeasuringPlan, measure
from cascada.systems.export import export

CRASHES = """
import os, signal

PACKAGES = ("numpy",)

def load(folder, max_length, settings):
    def rank(question, candidates):
        if len(candidates) > 4:
            os.kill(os.getpid(), signal.SIGILL)
        return [0.0] * len(candidates), {}
    return rank
"""


SLOW = """
import time

PACKAGES = ("numpy",)

def load(folder, max_length, settings):
    def rank(question, candidates):
        time.sleep(0.06)
        return [0.0] * len(candidates), {}
    return rank
"""

REPEATS_WHAT_IT_GOT = """
PACKAGES = ("numpy",)

def load(folder, max_length, settings):
    return lambda question, candidates: ([float(text) for text in candidates], {"relative_cost": float(question)})
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory, cascade_folder, words):
    home = tmp_path_factory.mktemp("bench")
    export(cascade_folder, home / "int8")
    (home / "crashes.py").write_text(CRASHES)
    texts = home / "texts.json"
    texts.write_text(json.dumps({"question": words[0], "candidates": [" ".join(words[:n]) for n in range(1, 13)]}))
    engines = [
        FULL_INT8,
        *engines_named(["int8 α=0.5"]),
        Engine("crashes", str(home / "crashes"), "int8", ()),
        Engine("absent", "cascada", "int8", ("no_such_module",)),
        Engine("untrained", "cascada", "trained", ()),
        Engine("damaged", "cascada", "damaged", (), {"drop": 0.0}),
    ]
    folders = {"int8": home / "int8", "damaged": home}
    lines = []
    plan = MeasuringPlan((4, 12), repeats=2, seconds=10, pause=0)
    rows = measure(engines, folders, plan, texts=texts, max_length=64, on_progress=lines.append)
    return {row["engine"]: row for row in rows}, lines


def test_each_number_of_candidates_is_timed_as_often_as_asked(measured):
    row = measured[0][FULL_INT8.name]
    assert row["problem"] is None
    assert [(cell["candidates"], len(cell["seconds"])) for cell in row["cells"]] == [(4, 2), (12, 2)]
    for cell in row["cells"]:
        assert min(cell["seconds"]) <= cell["median"] <= cell["p95"] <= max(cell["seconds"])
        assert cell["ranked"] == cell["candidates"]
        assert cell["peak_memory"] > 10_000_000
    assert row["versions"]["onnxruntime"]


def test_with_data_every_repeat_ranks_another_list_as_it_is_or_cut_or_filled(tmp_path):
    (tmp_path / "told.py").write_text(REPEATS_WHAT_IT_GOT)
    data = [["0", ["1", "2", "3"]], ["1", ["4"]], ["2", ["5", "3"]], ["3", ["6"]]]
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps({"question": "0", "candidates": ["1", "2"], "data": data}))
    ranked = []

    def answers(rows):
        asked = [{"question": 1}, {"question": 1, "candidates": 3}, {"question": 0, "candidates": 2}]
        for request in [*asked, {"question": 0, "candidates": 9}]:
            ranked.append(rows[0]._ask(request)["scores"])

    plan = MeasuringPlan((OWN_LISTS, 4), repeats=2, seconds=10, pause=0, lists=(0, 2))
    engine = Engine("told", str(tmp_path / "told"), "int8", ())
    (row,) = measure([engine], {"int8": tmp_path}, plan, texts=texts, max_length=64, quality=answers)
    assert [(cell["candidates"], cell["ranked"]) for cell in row["cells"]] == [(OWN_LISTS, 2.5), (4, 4)]
    assert [len(cell["seconds"]) for cell in row["cells"]] == [2, 2]
    assert [cell["relative_cost"] for cell in row["cells"]] == [1, 1]
    assert ranked == [[4], [4, 6, 1], [1, 2], [1, 2, 3, 5, 6, 4]], "every text once, from lists far away"


def test_with_data_all_engines_stop_when_one_has_used_its_time_and_a_part_is_no_row(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "crashes.py").write_text(CRASHES)
    data = [[str(number), ["a"] * (number + 1)] for number in range(6)]
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps({"question": "0", "candidates": ["1", "2"], "data": data}))
    engines = [Engine(name, str(tmp_path / name), "int8", ()) for name in ("slow", "crashes")]
    plan = MeasuringPlan((OWN_LISTS,), repeats=5, seconds=0.1, pause=0, lists=(0, 1, 4, 2, 3))
    lines = []
    slow, crashes = measure(engines, {"int8": tmp_path}, plan, texts=texts, max_length=64, on_progress=lines.append)
    assert len(slow["cells"][0]["seconds"]) == 3
    assert (crashes["cells"], crashes["problem"]) == ([], "died by SIGILL on list 5 of the data")
    assert "crashes, lists as they are: died by SIGILL on list 5 of the data" in lines


def test_the_cost_of_a_ranking_comes_with_its_time(measured):
    full, half = (measured[0][name]["cells"][-1] for name in (FULL_INT8.name, "cascada int8 α=0.5"))
    assert full["flops"] == full["full_flops"] == half["full_flops"]
    assert half["flops"] < full["flops"]


def test_a_crash_keeps_earlier_measurements_and_affects_no_other_engine(measured):
    row = measured[0]["crashes"]
    assert row["problem"] == "died by SIGILL at 12 candidates"
    assert [cell["candidates"] for cell in row["cells"]] == [4]


@pytest.mark.parametrize(
    ("engine", "problem"),
    [
        ("absent", "not installed: no_such_module"),
        ("untrained", "needs the trained ranker"),
        ("damaged", "no cascada.json"),
    ],
)
def test_an_engine_that_cannot_be_measured_says_why(measured, engine, problem):
    row = measured[0][engine]
    assert problem in row["problem"]
    assert row["cells"] == []


def test_every_measurement_is_reported(measured):
    _, lines = measured
    assert any(re.fullmatch(r"cascada int8 α=0, 12 candidates: \d+\.\d{3} s", line) for line in lines)
    assert "crashes, 12 candidates: died by SIGILL at 12 candidates" in lines
