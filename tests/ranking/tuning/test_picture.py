"""The plot of a tuning: every setting, the front, single exits, the full model and the chosen plan."""

from dataclasses import replace

import pytest
from score_tables import learning

from cascada.core.errors import CascadaError
from cascada.ranking.tuning import default_grid, tune, tune_keeping_best, within_loss
from cascada.ranking.tuning.picture import draw

SCORES = learning(40, 12)


def test_the_plot_has_a_title_and_a_legend(tmp_path):
    path = tmp_path / "front.svg"
    tuning = tune(SCORES, default_grid(3), within_loss(0.01, "R@2"), measure="R@2")
    draw(replace(tuning, title="a title"), path)
    text = path.read_text()
    title = "a title: 49 settings, 40 questions"
    for word in (title, "R@2", "MAP", "front", "full model", "chosen", "all stop at exit …", "exit 1 drops 0.6"):
        assert f"<!-- {word} -->" in text


def test_a_tuning_with_keep_counts_is_plotted(tmp_path):
    draw(tune_keeping_best(SCORES, default_grid(3), at_least=0.5, confidence=0.8), tmp_path / "front.png")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


def test_a_path_that_cannot_be_written_raises_one_sentence(tmp_path):
    with pytest.raises(CascadaError, match="cannot be written"):
        draw(tune(SCORES, default_grid(3), within_loss(0.01, "MAP")), tmp_path / "none" / "front.png")
