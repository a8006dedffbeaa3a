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


@pytest.mark.parametrize(
    ("exits", "shown", "not_shown"),
    [
        ((0, 4, 6), ["exit 0 drops 0.6", "front without exit 0"], ["start drops 0.6"]),
        (("start", 4, 6), ["start drops 0.6"], ["exit 0 drops 0.6", "front without exit 0"]),
        (("start", 0, 6), ["start drops 0.6", "front without exit 0"], ["exit 0 drops 0.6"]),
        (("start", 4, 0), ["start drops 0.6"], ["front without exit 0"]),
    ],
)
def test_bm25_in_front_is_not_drawn_as_exit_0(tmp_path, exits, shown, not_shown):
    draw(tune(replace(SCORES, exits=exits), default_grid(3), within_loss(0.1, "MAP")), tmp_path / "front.svg")
    text = (tmp_path / "front.svg").read_text()
    assert [word for word in (*shown, *not_shown) if f"<!-- {word} -->" in text] == shown


def test_a_tuning_with_keep_counts_is_plotted(tmp_path):
    draw(tune_keeping_best(SCORES, default_grid(3), at_least=0.5, confidence=0.8), tmp_path / "front.png")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


def test_a_path_that_cannot_be_written_raises_one_sentence(tmp_path):
    with pytest.raises(CascadaError, match="cannot be written"):
        draw(tune(SCORES, default_grid(3), within_loss(0.01, "MAP")), tmp_path / "none" / "front.png")
