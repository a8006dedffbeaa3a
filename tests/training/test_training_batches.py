import numpy as np
import pytest

from cascada.text.pair_arrays import EncodedPairs
from cascada.training.batches import BatchPlan
from cascada.training.examples import Examples
from cascada.training.settings import TrainingSettings


def examples(questions=60, candidates=10, seed=0):
    """Pairs as long as WikiQA's are: most about 35 tokens, a few over 100; two correct ones a question."""
    random = np.random.default_rng(seed)
    count = questions * candidates
    lengths = np.clip(random.lognormal(3.5, 0.45, count).astype(np.int64), 8, 128)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    tokens = int(offsets[-1])
    encoded = EncodedPairs(np.ones(tokens, np.int32), np.zeros(tokens, np.int8), offsets, np.zeros(count, bool))
    labels = (np.arange(count) % candidates < 2).astype(np.int64)
    return Examples(encoded, labels, np.repeat(np.arange(questions), candidates), pad_id=0)


def plan(data, by="tokens", size=1000, rank=0, world=1, **settings):
    return BatchPlan(data, TrainingSettings(batch={"by": by, "size": size}, **settings), rank=rank, world=world)


def padded(data, batch):
    return len(batch) * data.encoded.lengths[batch].max()


def waste(data, batches):
    """The share of computed tokens that is padding."""
    return 1 - data.encoded.lengths.sum() / sum(padded(data, batch) for batch in batches)


@pytest.fixture(scope="module")
def data():
    return examples()


@pytest.mark.parametrize(("by", "size"), [("tokens", 1000), ("pairs", 16), ("questions", 4)])
def test_every_pair_comes_exactly_once_an_epoch(data, by, size):
    for epoch in range(2):
        rows = np.concatenate(plan(data, by, size).epoch(epoch))
        assert sorted(rows) == list(range(len(data)))


def test_token_batches_stay_within_the_budget(data):
    assert all(padded(data, batch) <= 1000 for batch in plan(data).epoch(0))


def test_a_pair_longer_than_the_budget_stands_alone(data):
    longer = [batch for batch in plan(data, size=64).epoch(0) if padded(data, batch) > 64]
    assert longer
    assert all(len(batch) == 1 for batch in longer)


def test_token_batches_waste_far_less_on_padding_than_batches_of_a_fixed_number_of_pairs():
    data = examples(questions=400)
    assert waste(data, plan(data, "tokens", 1000).epoch(0)) < 0.05
    assert waste(data, plan(data, "pairs", 28).epoch(0)) > 0.4


def test_batches_of_like_length_are_not_trained_in_order_of_length(data):
    lengths = [data.encoded.lengths[batch].mean() for batch in plan(data).epoch(0)]
    assert abs(np.corrcoef(lengths, np.arange(len(lengths)))[0, 1]) < 0.5


def test_pair_batches_have_the_size_asked_for(data):
    sizes = sorted(len(batch) for batch in plan(data, "pairs", 64).epoch(0))
    assert sizes == [600 % 64, *[64] * (600 // 64)]


def test_question_batches_keep_questions_whole(data):
    for batch in plan(data, "questions", 4).epoch(0):
        questions, counts = np.unique(data.owner[batch], return_counts=True)
        assert (len(questions), set(counts)) == (4, {10})


@pytest.mark.parametrize(("by", "size"), [("tokens", 1000), ("pairs", 16), ("questions", 4)])
def test_negatives_are_drawn_to_the_number_asked_for_and_positives_all_stay(data, by, size):
    rows = np.concatenate(plan(data, by, size, negatives=3).epoch(0))
    assert len(set(rows)) == len(rows)
    positive = data.labels[rows] == 1
    assert sorted(rows[positive]) == list(np.flatnonzero(data.labels))
    assert set(np.bincount(data.owner[rows[~positive]])) == {3}


def test_a_question_with_fewer_negatives_gives_all_it_has(data):
    rows = np.concatenate(plan(data, negatives=100).epoch(0))
    assert sorted(rows) == list(range(len(data)))


def test_negatives_are_drawn_anew_each_epoch_and_all_get_their_turn(data):
    sampled = plan(data, negatives=3)
    drawn = [frozenset(np.concatenate(sampled.epoch(epoch))) for epoch in range(30)]
    assert len(set(drawn)) == 30
    assert len(frozenset().union(*drawn)) == len(data)


def sequence(*args, **settings):
    return list(plan(*args, **settings))


@pytest.mark.parametrize("negatives", [None, 3])
def test_the_sequence_depends_on_the_seed_alone(data, negatives):
    np.random.seed(5)
    first = sequence(data, seed=1, epochs=2, negatives=negatives)
    np.random.seed(6)
    assert sequence(data, seed=1, epochs=2, negatives=negatives) == first
    assert sequence(data, seed=2, epochs=2, negatives=negatives) != first


def test_epochs_differ_and_a_longer_run_begins_like_a_shorter_one(data):
    two, three = sequence(data, epochs=2), sequence(data, epochs=3)
    assert three[: len(two)] == two
    half = plan(data).epoch_lengths[0]
    assert two[:half] != two[half:]


def test_the_length_is_known_before_training(data):
    for settings in ({}, {"negatives": 2}, {"world": 3}):
        planned = plan(data, epochs=3, **settings)
        assert len(planned) == len(list(planned)) == sum(planned.epoch_lengths)


@pytest.mark.parametrize("world", [2, 3])
def test_several_processes_share_an_epoch_evenly_and_leave_nothing_out(data, world):
    shares = [sequence(data, epochs=1, rank=rank, world=world) for rank in range(world)]
    assert len({len(share) for share in shares}) == 1
    batches = [tuple(batch) for share in shares for batch in share]
    assert set(batches) == {tuple(batch) for batch in sequence(data, epochs=1)}
    assert len(batches) - len(set(batches)) < world  # a few again, so that all have as many


def test_more_processes_than_batches_is_no_reason_to_fail():
    data = examples(questions=1)
    shares = [sequence(data, "questions", 1, epochs=1, rank=rank, world=3) for rank in range(3)]
    assert [len(share) for share in shares] == [1, 1, 1]
