"""A ranking as an object, as JSON, in a terminal and in a notebook."""

import dataclasses
import io
import json

import pytest
from rich.console import Console

from cascada.ranking import Item, Ranking
from cascada.ranking.result import StageCost


def item(text="Yes.", **changes):
    values = {"score": 0.875, "raw_score": 2.0, "index": 4, "exit": 6, "scores": (1.0, 2.0), "truncated": False}
    return Item(text, **{**values, "document": text, **changes})


def ranking(*items, question="who?"):
    stages = (StageCost(4, 2, 300, 0.25), StageCost(6, 1, 100, 0.125))
    return Ranking(question=question, items=items, relative_cost=0.5, stages=stages, full_flops=800)


def test_a_ranking_is_a_sequence_of_items_that_cannot_be_changed():
    both = ranking(item("one"), item("two"))
    assert len(both) == 2
    assert [found.text for found in both] == ["one", "two"]
    assert both[-1].text == "two"
    with pytest.raises(dataclasses.FrozenInstanceError):
        both[0].score = 1.0


def test_the_dictionary_is_the_contract():
    found = json.loads(json.dumps(ranking(item(document={"text": "Yes.", "id": 1})).to_dict()))
    expected = {"index": 4, "text": "Yes.", "score": 0.875, "raw_score": 2.0, "exit": 6, "truncated": False}
    expected |= {"scores": [1.0, 2.0], "document": {"text": "Yes.", "id": 1}, "window": None}
    stages = [
        {"exit": 4, "candidates": 2, "flops": 300, "seconds": 0.25, "texts": 0, "cached": 0},
        {"exit": 6, "candidates": 1, "flops": 100, "seconds": 0.125, "texts": 0, "cached": 0},
    ]
    cost = {"relative_cost": 0.5, "flops": 400, "full_flops": 800, "stages": stages}
    assert found == {"items": [expected], **cost, "complete": True, "likely": None, "skipped": False}


def test_rankings_that_differ_only_in_time_are_equal():
    slower = dataclasses.replace(ranking(item()), stages=(StageCost(4, 2, 300, 9.0), StageCost(6, 1, 100, 9.0)))
    assert slower == ranking(item())


def test_as_text_it_shows_question_place_score_index_and_text():
    lines = str(ranking(item("Yes."), item("No.", score=0.25, index=0))).splitlines()
    assert lines[0].strip() == "who?"
    assert [line.split() for line in lines[-2:]] == [["1", "0.875", "4", "Yes."], ["2", "0.250", "0", "No."]]


def test_as_text_it_has_no_colours_even_where_they_are_forced(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in str(ranking(item()))


def test_in_a_terminal_the_first_is_marked():
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system="standard")
    console.print(ranking(item("Yes."), item("No.")))
    lines = console.file.getvalue().splitlines()
    assert ["\x1b[1;32m" in line for line in lines[-2:]] == [True, False]


def test_a_truncated_text_is_marked():
    assert "Yes. […]" in str(ranking(item(truncated=True)))


def test_a_text_cannot_command_the_terminal_nor_break_the_table():
    evil = "\x1b]0;title\x07\x1b[2Jgone\r\nnext\x00\x9b31m \ud800"
    shown = str(ranking(item(evil), question=evil))
    assert not set(shown) & {"\x1b", "\x07", "\r", "\x00", "\x9b", "\ud800"}
    assert "gone next" in shown
    assert len(shown.splitlines()) == 3
    shown.encode("utf-8")


def test_markup_in_a_text_is_text():
    assert "[bold]x[/bold] [red]" in str(ranking(item("[bold]x[/bold] [red]")))


def test_html_is_escaped():
    html = ranking(item("<script>alert(1)</script> & 'x'"), question="<b>who</b>")._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in html


def test_an_empty_ranking_says_so():
    assert str(ranking()).splitlines() == ["who?", "(no candidates)"]
    assert "(no candidates)" in ranking()._repr_html_()
