"""Ratios and tables, from made-up measurements."""

from itertools import combinations
from statistics import fmean, median

import pytest
from matplotlib.text import Text

from cascada.bench.measure import OWN_LISTS
from cascada.bench.picture import draw
from cascada.bench.report import heading, ratios, reference, tables
from cascada.bench.show import markdown
from cascada.core.errors import CascadaError


def cell(candidates, seconds, **more):
    times = {"seconds": [seconds], "mean": seconds, "median": seconds, "p95": seconds}
    ranked = 190 if candidates == OWN_LISTS else candidates
    return {"candidates": candidates, "ranked": ranked, "peak_memory": 500_000_000, **times, **more}


def row(engine, *cells, problem=None):
    return {"engine": engine, "problem": problem, "cells": list(cells)}


@pytest.fixture
def results():
    full = 400 * 10**9
    return {
        "machine": {
            "cpu": {"model": "A processor", "cores": 2, "instructions": {"avx2": True, "amx_int8": False}},
            "python": "3.11.1",
            "versions": {"onnxruntime": "1.31.1"},
            "load_before": 0.1,
        },
        "model": {"source": "12x384", "layers": 12, "hidden": 384, "exits": [4, 12], "max_length": 128},
        "texts": {"tokens_mean": 44.0},
        "engines": [
            row("sentence-transformers torch fp32", cell(400, 4.0), cell(4000, 40.0)),
            row("sentence-transformers ONNX int8", cell(400, 2.0)),
            row("FlashRank int8", problem="not installed: flashrank"),
            row("cascada int8 α=0", cell(400, 1.0, flops=full, full_flops=full)),
            row("cascada int8 α=0.5", cell(400, 0.5, flops=full * 0.4, full_flops=full), cell(4000, 6.0)),
        ],
        "int8_peak": {"all cores": {"gops": 1600.0}},
        "start": {"import cascada": 0.123, "cascada rank": 1.5},
        "installed": {"cascada": {"bytes": 200_000_000}},
    }


def test_ratios_are_of_medians_next_to_those_by_arithmetic(results):
    half = ratios(results, 400)["cascada int8 α=0.5"]
    assert half == {
        "against torch": 8.0,
        "against ONNX int8": 4.0,
        "against own α=0": 2.0,
        "by arithmetic": 2.5,
        "realised": 0.8,
        "of the peak": pytest.approx(160 / 0.5 / 1600),
    }


def test_an_int8_peer_has_a_share_of_the_peak_too(results):
    by_engine = ratios(results, 400)
    assert by_engine["sentence-transformers ONNX int8"]["of the peak"] == pytest.approx(400 / 2 / 1600)
    assert "of the peak" not in by_engine["sentence-transformers torch fp32"]
    assert "by arithmetic" not in by_engine["cascada int8 α=0"]


def test_ratios_are_shown_at_400_candidates_or_the_largest_number(results):
    assert reference(results) == 400
    for engine in results["engines"]:
        engine["cells"] = engine["cells"][1:]
    assert reference(results) == 4000


def test_the_page_has_every_figure_and_every_failure(results):
    page = markdown(results)
    assert "| FlashRank int8: not installed: flashrank | – | – |" in page
    assert "| cascada int8 α=0.5 | 0.500 (0.500) | 6.000 (6.000) |" in page
    assert "|  | per second | × s-t torch | × s-t int8 | × own α=0 | arithmetic | realised | of peak | growth |" in page
    assert "| cascada int8 α=0.5 | 800 | 8.00 | 4.00 | 2.00 | 2.50 | 80% | 20% | 1.20 |" in page
    assert "| `import cascada` | 0.12 s |" in page
    assert "| cascada and its dependencies, on disk | 200 MB |" in page
    assert "A processor, 2 cores (avx2); Python 3.11.1, onnxruntime 1.31.1" in heading(results)


def test_a_run_without_startup_times_has_no_table_of_them(results):
    assert len(tables(results)) == 4
    del results["start"]
    assert len(tables(results)) == 3


def test_the_picture_is_drawn(results, tmp_path):
    draw(results, tmp_path / "speed.svg")
    text = (tmp_path / "speed.svg").read_text()
    assert "cascada int8 α=0.5" in text
    assert "FlashRank" not in text


@pytest.fixture
def with_quality(results):
    figures = [0.8, 0.79, None, 0.79, 0.785]
    for engine, value in zip(results["engines"], figures, strict=True):
        if value:
            engine["quality"] = {"MAP": value}
    results["engines"][0]["quality"] = {"MAP": 0.8, "of": "cascada fp32 α=0"}
    results["engines"][-1]["quality"]["relative_cost"] = 0.4
    costs = {"flops": 10**11, "full_flops": 4 * 10**11, "relative_cost": 0.24}
    results["engines"].append(row("cascada int8, own plan", cell(400, 0.25, **costs)))
    results["engines"][-1]["quality"] = {"MAP": 0.784, "relative_cost": 0.25, "relative_cost_p95": 0.4}
    results["quality"] = {"data": "dev", "measure": "MAP", "questions": 50, "candidates_mean": 190.5}
    return results


def test_the_first_table_has_quality_beside_speed(with_quality):
    table = tables(with_quality)[0]
    assert table.title == (
        "MAP on dev (50 questions, 190.5 candidates on average), and median seconds at 400 candidates; "
        "* that of cascada fp32 α=0, whose layers it runs under another head"
    )
    rows = {cells[0]: cells[1:] for cells in table.rows}
    assert rows["sentence-transformers torch fp32"][:4] == ["0.8000*", "–", "4.000", "1.00"]
    assert rows["cascada int8, own plan"] == ["0.7840", "0.250 (0.400)", "0.250", "16.00", "8.00", "0.240"]
    assert "FlashRank int8" not in rows


@pytest.fixture
def on_lists(with_quality):
    """Every repeat ranked another list."""
    with_quality["texts"]["lists"] = 3
    seconds = {"sentence-transformers torch fp32": [4.0, 8.0, 4.0], "cascada int8 α=0.5": [0.5, 1.0, 0.1]}
    for engine in with_quality["engines"]:
        times = seconds.get(engine["engine"], [1.0, 1.0, 1.0])
        costs = {"flops": 10**11, "full_flops": 10**11, "relative_cost": 0.2} if "cascada" in engine["engine"] else {}
        more = {"seconds": times, "median": median(times)}
        engine["cells"] = [cell(100, fmean(times)) | more, cell(OWN_LISTS, fmean(times), **costs) | more]
    return with_quality


def test_over_lists_times_and_ratios_are_of_means(on_lists):
    assert ratios(on_lists, OWN_LISTS)["cascada int8 α=0.5"]["against torch"] == pytest.approx(10)
    quality, times, speed, _, _ = tables(on_lists)
    assert quality.title.startswith(
        "MAP on dev (50 questions, 190.5 candidates on average), and mean seconds on the lists as they are; "
    )
    assert reference(on_lists) == OWN_LISTS
    (row,) = [row for row in times.rows if row[0] == "cascada int8 α=0.5"]
    assert row[1:] == ["0.533 (0.533)", "0.533 (0.533)"]
    assert times.header == ["", "100", "own lists"]
    assert times.title.endswith(
        "mean (95th percentile), over 3 lists of the data; own lists: 190 candidates on average"
    )
    assert speed.title == "On the lists as they are"
    assert next(row[1] for row in speed.rows if row[0] == "cascada int8 α=0.5") == "356"


def test_the_lists_that_were_timed_are_counted_where_time_ran_out(on_lists):
    on_lists["texts"]["lists"] = 40  # planned, as files of results before said
    title = "mean (95th percentile), over 3 lists of the data; own lists: 190 candidates on average"
    assert tables(on_lists)[1].title.endswith(title)
    for engine in on_lists["engines"]:
        engine["cells"][1]["seconds"] = engine["cells"][1]["seconds"][:2]
    title = (
        "over lists of the data: 3 at 100 candidates, 2 on the lists as they are; own lists: 190 candidates on average"
    )
    assert tables(on_lists)[1].title.endswith(title)


def test_a_plan_is_compared_with_its_own_engine_without_drops(with_quality):
    figures = ratios(with_quality, 400)["cascada int8, own plan"]
    assert (figures["against own α=0"], figures["by arithmetic"], figures["realised"]) == (4, 4, 1)


def test_the_names_in_the_picture_of_quality_against_speed_do_not_overlap(with_quality, tmp_path):
    """Points as near to each other as they are in practice."""
    close = [("fastembed fp32", 10.1, 0.8), ("fastembed int8", 9.8, 0.797), ("FlashRank int8", 9.5, 0.797)]
    for name, seconds, value in [*close, ("sentence-transformers OpenVINO", 3.9, 0.8)]:
        with_quality["engines"].append(row(name, cell(400, seconds)) | {"quality": {"MAP": value}})
    figure = draw(with_quality, tmp_path / "quality.png")
    (panel,) = figure.axes
    names = [Text.get_window_extent(text) for text in panel.texts]  # without the lines that lead to them
    assert len(names) == 9
    assert not any(one.overlaps(other) for one, other in combinations(names, 2))
    assert (tmp_path / "quality.png").stat().st_size > 10_000


def test_with_data_that_no_engine_was_measured_on_there_is_no_picture(with_quality, tmp_path):
    for engine in with_quality["engines"]:
        engine.pop("quality", None)
    with pytest.raises(CascadaError, match="There is no picture: no engine was measured on the data"):
        draw(with_quality, tmp_path / "quality.png")


def test_the_plans_that_no_other_plan_beats_are_joined_in_the_picture(with_quality, tmp_path):
    slow = row("cascada int8, drop 0.9 0.9", cell(400, 0.4, flops=10**11, full_flops=4 * 10**11))
    with_quality["engines"].append(slow | {"quality": {"MAP": 0.7}})
    (panel,) = draw(with_quality, tmp_path / "quality.png").axes
    (line,) = [line for line in panel.lines if line.get_linestyle() == "-"]
    assert list(line.get_xdata()) == [0.25, 0.5, 1.0]
    assert "seconds" in panel.get_xlabel()
    assert {"nobody dropped", "α=0.5", "own plan", "drop 0.9 0.9"} < {text.get_text() for text in panel.texts}
