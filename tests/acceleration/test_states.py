"""Stored states: one pass writes them, a killed pass goes on, and those of another run are not mistaken for them."""

import numpy as np
import pytest

from cascada.acceleration.states import States
from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group
from cascada.ranking import inputs

GROUPS = [Group(f"q{n}?", tuple(Candidate(f"text {n} {i}") for i in range(3))) for n in range(5)]


class Killed(Exception):
    pass


class Model:
    """States that tell the text; is killed in the given batch."""

    def __init__(self, killed_in=None):
        self.killed_in = killed_in
        self.batches = 0

    def pooled(self, pairs, layers):
        self.batches += 1
        if self.batches == self.killed_in:
            raise Killed
        value = np.array([[sum(map(ord, text))] * 2 for text in pairs.texts], np.float32)
        return {layer: value + layer for layer in layers}, value[:, 0] / 10


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(inputs, "PAIRS_AT_ONCE", 6)


def opened(folder, **changed):
    settings = {"layers": [1, 2], "pairs": 15, "width": 2, "about": {"model": "m"}} | changed
    return States.opened(folder, settings.pop("about"), **settings)


def test_a_killed_pass_goes_on_where_it_stopped(tmp_path):
    done = []
    with pytest.raises(Killed):
        opened(tmp_path / "a").fill(Model(killed_in=3), GROUPS, done.append)
    assert sum(done) == 12
    model = Model()
    done = []
    opened(tmp_path / "a").fill(model, GROUPS, done.append)
    assert model.batches == 1
    assert done[0] == 12
    assert sum(done) == 15
    opened(tmp_path / "b").fill(Model(), GROUPS, done.append)
    resumed, whole = opened(tmp_path / "a"), opened(tmp_path / "b")
    assert np.array_equal(resumed.scores, whole.scores)
    assert np.isfinite(resumed.scores).all()
    for layer in (1, 2):
        assert np.array_equal(resumed.layers[layer], whole.layers[layer])


def test_states_of_another_run_are_rejected(tmp_path):
    opened(tmp_path)
    with pytest.raises(CascadaError, match=r"holds the states of another run \(its model differs\)"):
        opened(tmp_path, about={"model": "other"})


def test_a_full_disk_is_noticed_before_the_pass(tmp_path):
    with pytest.raises(CascadaError, match=r"take .* GB, and .* GB left"):
        opened(tmp_path, pairs=10**12)


def test_scores_that_are_no_numbers_are_an_error(tmp_path):
    class Diverged(Model):
        def pooled(self, pairs, layers):
            states, scores = super().pooled(pairs, layers)
            return states, scores * np.nan

    with pytest.raises(CascadaError, match=r"not numbers"):
        opened(tmp_path).fill(Diverged(), GROUPS, lambda pairs: None)
