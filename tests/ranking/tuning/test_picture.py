"""The picture: every setting, the front, single exits, the full model, the choice."""

import pytest
from score_tables import learning

from cascada.core.errors import CascadaError
from cascada.ranking.tuning import default_grid, tune, tune_keeping_best, within_loss
from cascada.ranking.tuning.picture import draw

SCORES = learning(40, 12)


def test_all_that_can_be_seen_is_explained(tmp_path):
    path = tmp_path / "front.svg"
    draw(tune(SCORES, default_grid(3), within_loss(0.01, "R@2"), measure="R@2"), path, "a title")
    text = path.read_text()
    for word in ("a title", "R@2", "MAP", "front", "full model", "chosen", "all stop at exit …", "exit 1 drops 0.6"):
        assert f"<!-- {word} -->" in text


def test_keep_counts_can_be_drawn(tmp_path):
    draw(tune_keeping_best(SCORES, default_grid(3), at_least=0.5, confidence=0.8), tmp_path / "front.png", "")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_written_is_one_sentence(tmp_path):
    with pytest.raises(CascadaError, match="cannot be drawn"):
        draw(tune(SCORES, default_grid(3), within_loss(0.01, "MAP")), tmp_path / "none" / "front.png", "")
