"""Compare-aggregate in the one executor: alone, and in front of a transformer."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from cascada import Ranker
from cascada.objectives.levels import SCHEMES
from cascada.systems.compare_aggregate.cost import CompareAggregateFlops
from cascada.systems.compare_aggregate.engine_torch import ranker_of
from cascada.systems.compare_aggregate.folder import save
from cascada.systems.compare_aggregate.network import CompareAggregateRanker
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.text.vocabulary import Vocabulary, WordPairTokenizer, padded_words

SIZES = {"embedding": 8, "hidden": 10, "channels": 6, "max_words": 12}


@pytest.fixture(scope="module")
def vocabulary(words):
    return Vocabulary(words)


@pytest.fixture(scope="module")
def model(vocabulary):
    torch.manual_seed(5)
    return CompareAggregateRanker(CompareAggregateShape(SCHEMES["RI(pair)"], **SIZES), len(vocabulary)).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, model, vocabulary):
    folder = tmp_path_factory.mktemp("compare") / "ranker"
    save(model, folder, vocabulary=vocabulary, card="")
    return folder


@pytest.fixture(scope="module")
def texts(words):
    return [" ".join(words[start : start + 1 + start * 5 % 17]) for start in range(100)]


def test_each_pair_scores_as_it_does_alone(model, vocabulary, folder, texts, words):
    scores = [
        item.raw_score
        for item in sorted(Ranker.load(folder).rank(words[5], texts, long="first"), key=lambda one: one.index)
    ]
    pairs = WordPairTokenizer(vocabulary, max_words=12)
    for text, score in zip(texts, scores, strict=True):
        alone = map(torch.from_numpy, padded_words(pairs.encode([words[5]], [text], [0]), [0]))
        assert score == pytest.approx(model.score(*alone).item(), abs=1e-5)


def test_it_scores_in_float32_as_the_teacher_of_a_ranker_in_bfloat16(folder, texts):
    ranker = Ranker.load(folder)
    expected = ranker.score("ba da", texts)
    with torch.autocast("cpu", torch.bfloat16):
        assert ranker.score("ba da", texts).tolist() == expected.tolist()


def test_scores_lie_between_0_and_1_in_the_order_of_the_ranking(folder, texts):
    ranking = Ranker.load(folder).rank("ba da", texts, long="first")
    scores = [item.score for item in ranking]
    assert scores == sorted(scores, reverse=True)
    assert 0 < min(scores) <= max(scores) < 1
    assert any(item.truncated for item in ranking)


def test_unknown_words_and_empty_texts_are_ranked_too(folder):
    assert len(Ranker.load(folder).rank("¿qué?", ["", "zzz", "  ", "été"])) == 4


def test_it_stands_in_front_of_a_cascade(folder, cascade_folder, texts, words):
    ranking = Ranker.load(f"{folder}+{cascade_folder}").rank(words[3], texts, keep=[20, 5], long="first")
    assert [stage.candidates for stage in ranking.stages] == [100, 20, 5]
    first = [item.index for item in Ranker.load(folder).rank(words[3], texts, long="first")][:20]
    assert {item.index for item in ranking.items[:20]} == set(first)
    assert ranking.relative_cost == pytest.approx((2 * 20 + 2 * 5) / (4 * 100)), "it has no layers"
    assert ranking.stages[0].flops > 0


@pytest.mark.parametrize("scheme", ["CA(point)", "MTL", "RI(pair)", "PRI(list)"])
def test_operations_are_those_that_torch_counts(scheme):
    shape = CompareAggregateShape(SCHEMES[scheme], **SIZES)
    model = CompareAggregateRanker(shape, 40).eval()
    words = torch.arange(2, 38).view(2, 3, 6)  # all different; question and sentence equally long, as it is counted
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        model.score(*words)
    counted = CompareAggregateFlops(shape).pair(np.array([12, 12, 12])).sum()
    assert counter.get_total_flops() == pytest.approx(counted, rel=0.02)


def test_a_ranker_in_memory_is_the_one_in_its_folder(model, vocabulary, folder, texts):
    here = ranker_of(model, WordPairTokenizer(vocabulary, max_words=12))
    assert here.score("ba da", texts).tolist() == Ranker.load(folder).score("ba da", texts).tolist()
