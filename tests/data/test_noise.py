from collections import Counter
from itertools import combinations

import pytest

from cascada.core.errors import CascadaError, DataError
from cascada.data import Candidate, Group, flip_labels
from cascada.data.noise import noisy_pairs


def data(pairs, size=10):
    return [
        Group(f"q{start}", tuple(Candidate(f"t{index}", index % 2) for index in range(start, min(start + size, pairs))))
        for start in range(0, pairs, size)
    ]


def flipped(before, after):
    pairs = zip(
        (label for group in before for label in group.labels), (x for g in after for x in g.labels), strict=True
    )
    return [index for index, (old, new) in enumerate(pairs) if old != new]


@pytest.mark.parametrize(
    ("pairs", "share", "wanted"),
    [
        (8_672, 0.1, 867),
        (8_672, 0.2, 1_734),
        (53_417, 0.1, 5_341),
        (53_417, 0.2, 10_683),
        (100, 0.29, 29),  # 0.29 * 100 is 28.999… in binary
        (1_000, "0.017", 17),
        (7, 0, 0),
        (7, 1, 7),
    ],
)
def test_exactly_the_papers_number_of_labels_is_flipped(pairs, share, wanted):
    assert noisy_pairs(share, pairs) == wanted
    before = data(pairs)
    assert len(flipped(before, flip_labels(before, share, seed=1))) == wanted


def test_a_seed_flips_the_same_labels_again_and_another_seed_others():
    before = data(200)
    once, again, other = (flipped(before, flip_labels(before, 0.1, seed=seed)) for seed in (1, 1, 2))
    assert once == again != other


def test_streaming_with_a_known_number_of_pairs_flips_the_same_labels():
    before = data(200)
    assert list(flip_labels(iter(before), 0.1, seed=3, pairs=200)) == list(flip_labels(before, 0.1, seed=3))


def test_every_set_of_pairs_is_equally_likely():
    before = data(5)
    chosen = Counter(tuple(flipped(before, flip_labels(before, 0.4, seed=seed))) for seed in range(4_000))
    assert set(chosen) == set(combinations(range(5), 2))
    assert all(300 < count < 500 for count in chosen.values())


def test_everything_but_the_label_stays_and_a_flipped_label_has_no_grade():
    before = Group("q", (Candidate("t", 1, "c", 4),), "id")
    assert list(flip_labels([before], 1)) == [Group("q", (Candidate("t", 0, "c"),), "id")]
    assert list(flip_labels([before], 0)) == [before]


@pytest.mark.parametrize("share", [-0.1, 1.1, "ten", "nan"])
def test_a_share_that_is_none_is_rejected(share):
    with pytest.raises(CascadaError, match="must be a number from 0 to 1"):
        flip_labels(data(10), share)


def test_unlabelled_data_and_a_wrong_number_of_pairs_are_rejected():
    with pytest.raises(DataError, match="'t' has no label"):
        list(flip_labels([Group("q", (Candidate("t"),))], 1))
    with pytest.raises(DataError, match=r"2 pairs fewer than .pairs. says"):
        list(flip_labels(data(8), 0.5, pairs=10))
    with pytest.raises(DataError, match=r"2 pairs more than .pairs. says"):
        list(flip_labels(data(12), 0.5, pairs=10))
