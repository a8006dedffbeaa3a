"""A ranking explained in the terminal: scores, where candidates were dropped, and no more lines than necessary."""

import io

import pytest
from rich.console import Console
from table_stages import Clock, SlowStage, TableStage

from cascada.ranking import Ranker
from cascada.ranking.explain import Explanation

EXITS = (4, 6, 12)


def ranked(count, *, exits=EXITS, clock=None, **settings):
    """Candidates whose names are their numbers, and whose scores rise by a tenth from one to the next."""
    scores = {f"text {name}": (name / 10,) * len(exits) for name in range(count)}
    kind, more = (SlowStage, {"clock": clock}) if clock else (TableStage, {})
    stages = [kind(place, scores, exit=exit, **more) for place, exit in enumerate(exits)]
    return Ranker(stages).rank("who is it?", list(scores), **settings)


def drawn(ranking, width=80, **settings):
    console = Console(file=io.StringIO(), width=width)
    console.print(Explanation(ranking, **settings))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def row(lines, text):
    (found,) = [line for line in lines if line.endswith(text)]
    return found.split()


def test_a_candidate_has_its_score_at_every_exit_it_reached_and_a_mark_where_it_was_dropped():
    lines = drawn(ranked(10, drop=0.3))
    assert row(lines, "text 9") == ["1", "+0.90", "+0.90", "+0.90", "9", "text", "9"]
    assert row(lines, "text 4") == ["6", "+0.40", "+0.40✗", "4", "text", "4"]
    assert row(lines, "text 0") == ["10", "+0.00✗", "0", "text", "0"]
    assert [line.split()[:6] for line in lines if "at 4" in line] == [["at", "4", "at", "6", "at", "12"]]


def test_the_head_shows_how_many_candidates_reached_each_exit_and_the_cost():
    lines = drawn(ranked(10, drop=0.3))
    assert lines[0] == "who is it?"
    assert lines[1].startswith("10 candidates · relative cost 0.733 · ")
    bars = [line.split() for line in lines if line.startswith("layer")]
    assert [[word for word in bar if "█" not in word][1:6] for bar in bars] == [
        ["4", "10", "in", "3", "dropped"],
        ["6", "7", "in", "2", "dropped"],
        ["12", "5", "in", bars[2][-2], "s"],
    ]
    widths = [sum(len(word) for word in bar if "█" in word) for bar in bars]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 24


def test_long_tails_are_summed_up():
    lines = drawn(ranked(100, drop=0.4))
    assert [line.strip() for line in lines if "more" in line] == [
        "… 26 more reached the last exit",
        "… 21 more dropped at layer 6",
        "… 37 more dropped at layer 4",
    ]
    assert row(lines, "text 39")[0] == "61", "places are those of the whole ranking"
    assert len(lines) < 30


def test_one_more_is_shown_rather_than_counted():
    assert not [line for line in drawn(ranked(11)) if "more" in line]
    assert "… 2 more reached the last exit" in drawn(ranked(12))[-1]


def test_all_candidates_are_shown_on_request():
    lines = drawn(ranked(100, drop=0.4), show_all=True)
    assert sum("text " in line for line in lines) == 100
    assert not [line for line in lines if "more" in line]


def test_with_top_the_number_of_further_candidates_is_shown():
    lines = drawn(ranked(100, drop=0.4, top=3), show_all=True)
    assert [line.split()[0] for line in lines[-4:-1]] == ["1", "2", "3"]
    assert lines[-1].strip() == "… 97 more"


def test_a_stage_stopped_by_the_deadline_is_shown():
    clock = Clock()
    with clock.ticking():
        lines = drawn(ranked(20, drop=0.5, clock=clock, deadline_ms=45))
    assert "layer 6  stopped by the deadline" in lines
    assert row(lines, "text 19") == ["1", "+1.90", "19", "text", "19"], "no candidates were dropped"
    assert lines[-1].strip() == "… 10 more reached layer 4"


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("exits", [(4,), EXITS, range(1, 13)])
def test_no_line_is_wider_than_the_terminal(width, exits):
    console = Console(file=io.StringIO(), width=width)
    console.print(Explanation(ranked(1000, exits=exits, drop=0.1)))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "text 999" in "".join(lines)


def test_exits_that_do_not_fit_are_counted_in_the_header():
    lines = drawn(ranked(20, exits=range(1, 13), drop=0.1))
    (header,) = [line for line in lines if "at 12" in line]
    assert header.endswith("# (the last 6 of 12 exits)")
    assert header.split()[:2] == ["at", "7"]


def test_a_text_stays_on_its_line():
    lines = drawn(Ranker.load("bm25").rank("a", ["a word " * 50, "b\nc [bold]\x1b[2J"]))
    assert lines[-2].endswith("…")
    assert lines[-1].endswith("b c [bold]\ufffd[2J")


def test_a_ranker_without_layers_has_no_layer_to_name():
    lines = drawn(Ranker.load("bm25").rank("a", ["a", "b"]))
    assert lines[3].startswith("start")
    assert [line.split()[:1] for line in lines if "#" in line] == [["start"]]


def test_exit_0_computes_something_and_is_named():
    lines = drawn(Ranker.load("bm25+cascada-mini").rank("a", ["a", "b"]))
    assert [line.split("  ")[0] for line in lines[3:6]] == ["start", "exit 0", "layer 12"]


def test_scores_of_any_size_keep_their_column():
    stage = TableStage(0, {"a": (12345.0,), "b": (-12345.678,), "c": (-0.001,)})
    lines = drawn(Ranker([stage]).rank("who?", ["a", "b", "c"]))
    assert [line.split()[1] for line in lines[-3:]] == ["+12345", "+0.00", "-12346"]
