import pytest

from cascada.training.batches import epoch_of
from cascada.training.schedule import evaluation_updates
from cascada.training.settings import TrainingSettings


class Plan:
    """Epochs of so many batches."""

    def __init__(self, *lengths, **settings):
        self.epoch_lengths = list(lengths)
        self.settings = TrainingSettings(epochs=len(lengths), **settings)


def test_the_dev_set_is_measured_at_the_end_of_each_epoch():
    assert evaluation_updates(Plan(10, 12, 11)) == {10, 22, 33}


def test_or_at_even_steps_through_it():
    assert evaluation_updates(Plan(10, 12, evaluations_per_epoch=2)) == {5, 10, 16, 22}


def test_updates_are_counted_not_batches():
    plan = Plan(10, 11, batch={"accumulate": 4})
    assert evaluation_updates(plan) == {3, 6}  # 21 batches are 6 updates; the first epoch ends within the third


@pytest.mark.parametrize("settings", [{"evaluations_per_epoch": 7}, {"batch": {"accumulate": 9}}])
def test_the_last_update_is_always_measured_and_none_before_the_first(settings):
    plan = Plan(3, 2, **settings)
    found = evaluation_updates(plan)
    assert max(found) == -(-5 // plan.settings.batch.accumulate)
    assert min(found) >= 1


def test_how_many_epochs_are_done_after_an_update():
    plan = Plan(10, 20)
    assert [epoch_of(plan, update) for update in (0, 5, 10, 15, 30)] == [0, 0.5, 1, 1.25, 2]
    assert epoch_of(Plan(10, 11, batch={"accumulate": 4}), 6) == 2
