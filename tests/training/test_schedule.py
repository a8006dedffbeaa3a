"""The learning rate of each update, and the updates after which the dev set is measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.training.batches import epoch_of
from cascada.training.schedule import evaluation_updates, learning_rate
from cascada.training.settings import BatchSettings, TrainingSettings

schedules = st.sampled_from(["linear", "triangular", "constant"])
warmups = st.floats(0.001, 0.999) | st.integers(1, 1000)


def rates(updates, **settings):
    share = learning_rate(TrainingSettings(**settings), updates)
    return [share(update) for update in range(updates)]


def test_linear_rises_to_the_peak_and_falls_to_zero():
    shares = rates(100, schedule="linear", warmup=10)
    assert shares[:10] == pytest.approx([number / 10 for number in range(1, 11)])
    assert max(shares) == shares[9] == 1
    assert shares[10:] == sorted(shares[10:], reverse=True)
    assert shares[-1] == pytest.approx(1 / 90)
    assert learning_rate(TrainingSettings(warmup=10), 100)(100) == 0


def test_without_warmup_the_first_update_has_the_full_rate():
    assert rates(4, schedule="linear", warmup=0) == [1, 0.75, 0.5, 0.25]


def test_constant_rises_and_stays_at_the_peak():
    assert rates(8, schedule="constant", warmup=4) == [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]


def test_triangular_rises_and_falls_repeatedly():
    assert rates(12, schedule="triangular", warmup=3) == pytest.approx([1 / 3, 2 / 3, 1, 2 / 3, 1 / 3, 0] * 2)


@given(schedules, warmups, st.integers(1, 300))
def test_the_rate_is_between_zero_and_the_peak_and_the_first_update_learns(schedule, warmup, updates):
    shares = rates(updates, schedule=schedule, warmup=warmup)
    assert all(0 <= share <= 1 for share in shares)
    assert shares[0] > 0


@given(schedules, st.integers(1, 99), st.integers(2, 300))
def test_a_warmup_below_1_is_a_share_of_all_updates(schedule, percent, updates):
    share, number = percent / 100, percent / 100 * updates
    if number >= 1:
        assert rates(updates, schedule=schedule, warmup=share) == rates(updates, schedule=schedule, warmup=number)


class Epochs:
    """A batch plan reduced to its epochs, of so many batches each."""

    def __init__(self, *lengths, **settings):
        self.epoch_lengths = list(lengths)
        self.settings = TrainingSettings(epochs=len(lengths), **settings)


def test_the_dev_set_is_measured_at_the_end_of_each_epoch():
    assert evaluation_updates(Epochs(10, 12, 11)) == {10, 22, 33}


def test_the_dev_set_may_be_measured_several_times_in_an_epoch():
    assert evaluation_updates(Epochs(10, 12, evaluations_per_epoch=2)) == {5, 10, 16, 22}


def test_evaluations_count_updates_rather_than_batches():
    epochs = Epochs(10, 11, batch={"accumulate": 4})
    assert evaluation_updates(epochs) == {3, 6}  # 21 batches are 6 updates; the first epoch ends within the third


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(1, 9), st.integers(1, 9))
def test_the_last_update_is_always_measured_and_no_epoch_more_often_than_asked(lengths, per_epoch, accumulate):
    batch = BatchSettings(accumulate=accumulate)
    evaluated = evaluation_updates(Epochs(*lengths, evaluations_per_epoch=per_epoch, batch=batch))
    assert max(evaluated) == -(-sum(lengths) // accumulate)
    assert min(evaluated) >= 1
    assert len(evaluated) <= per_epoch * len(lengths)


def test_how_many_epochs_are_done_after_an_update():
    epochs = Epochs(10, 20)
    assert [epoch_of(epochs, update) for update in (0, 5, 10, 15, 30)] == [0, 0.5, 1, 1.25, 2]
    assert epoch_of(Epochs(10, 11, batch={"accumulate": 4}), 6) == 2
