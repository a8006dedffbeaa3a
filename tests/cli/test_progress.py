"""Progress bars: on stderr, and only in a terminal."""

import pytest

from cascada.api import Progress
from cascada.cli.progress import progress, progress_of_steps, shown


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")


def test_each_step_of_a_function_gets_a_bar(terminal, capsys):
    with progress_of_steps() as on_progress:
        on_progress(Progress("ranking", 4_000, 8_000, "pairs"))
        on_progress(Progress("replaying", 2, 2, "questions"))
    out, error = capsys.readouterr()
    assert out == ""
    assert "replaying:" in error
    assert "2 of 2 questions" in error


def test_without_a_total_things_are_counted(terminal, capsys):
    assert list(shown("abc", "reading", unit="files")) == ["a", "b", "c"]
    assert "reading: 3 files" in capsys.readouterr().err


def test_with_a_total_the_bar_shows_it(terminal, capsys):
    with progress("encoding", total=1_000, unit="texts") as advance:
        advance(1_000)
    assert "1,000 of 1,000 texts" in capsys.readouterr().err


def test_outside_a_terminal_nothing_is_shown(capsys):
    with progress("ranking", total=2) as advance, progress_of_steps() as on_progress:
        advance(2)
        on_progress(Progress("ranking", 1, 2, "pairs"))
    assert capsys.readouterr() == ("", "")
