import pytest

from cascada.training.schedule import learning_rate
from cascada.training.settings import TrainingSettings


def rates(updates, **settings):
    share = learning_rate(TrainingSettings(**settings), updates)
    return [share(update) for update in range(updates)]


def test_linear_ramps_up_to_the_peak_and_falls_to_nothing():
    found = rates(100, schedule="linear", warmup=10)
    assert found[:10] == pytest.approx([number / 10 for number in range(1, 11)])
    assert max(found) == found[9] == 1
    assert found[10:] == sorted(found[10:], reverse=True)
    assert found[-1] == pytest.approx(1 / 90)
    assert learning_rate(TrainingSettings(warmup=10), 100)(100) == 0


def test_a_warmup_below_1_is_a_share_of_all_updates():
    assert rates(200, warmup=0.25) == rates(200, warmup=50)


def test_without_warmup_the_first_update_has_the_full_rate():
    assert rates(4, schedule="linear", warmup=0) == [1, 0.75, 0.5, 0.25]


def test_constant_ramps_up_and_stays():
    assert rates(8, schedule="constant", warmup=4) == [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]


def test_triangular_goes_up_and_down_again_and_again():
    assert rates(12, schedule="triangular", warmup=3) == pytest.approx([1 / 3, 2 / 3, 1, 2 / 3, 1 / 3, 0] * 2)


@pytest.mark.parametrize("schedule", ["linear", "triangular", "constant"])
@pytest.mark.parametrize("warmup", [0.001, 0.1, 1, 7, 1000])
@pytest.mark.parametrize("updates", [1, 2, 10])
def test_the_rate_is_never_negative_nor_above_the_peak(schedule, warmup, updates):
    assert all(0 <= rate <= 1 for rate in rates(updates, schedule=schedule, warmup=warmup))


@pytest.mark.parametrize("schedule", ["linear", "triangular", "constant"])
def test_a_run_of_one_update_learns(schedule):
    assert rates(1, schedule=schedule)[0] > 0
