"""The torch engine runs a staged ranker stage by stage and computes what the model itself computes."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from cascada.encoders.encoder import TOKEN_BUDGET, load_encoder
from cascada.encoders.torch_stages import torch_stages
from cascada.ranking import Ranker
from cascada.ranking.arrays import sigmoid
from cascada.ranking.cost import TransformerFlops
from cascada.ranking.stage import NO_DEADLINE, Pairs
from cascada.systems.cascade.engine_torch import ranker_of
from cascada.systems.cascade.folder import load
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape
from cascada.text.pairs import PairTokenizer

NEW = ("albert", "modernbert", "deberta-v2", "deberta-v2-conv")
CLOSE = 1e-5
"""What float32 sums in another order may differ by, on any processor; another pair's score differs by far more."""


@pytest.fixture(scope="module", params=["bert", "roberta", "distilbert", "electra", "mpnet", *NEW])
def cascade(request, encoder_folders):
    """A cascade with exits after layers 2 and 4 and random weights, and its tokenizer."""
    folder = encoder_folders[request.param]
    torch.manual_seed(1)
    model = CascadeRanker(load_encoder(folder), CascadeShape((2, 4), max_length=48)).eval()
    return model, PairTokenizer.load(folder, max_length=48, pad_id=model.pad_id)


@pytest.fixture(scope="module")
def texts(words):
    return [" ".join(words[i : i + 1 + i * 5 % 40]) for i in range(100)]


@pytest.fixture(scope="module")
def question(words):
    return f"{words[5]} {words[50]}?"


def own_scores(model, tokenizer, question, texts, exit):
    """Each pair by itself through the model's forward pass: no batches, no padding, no stages."""
    scores = []
    encoded = tokenizer.encode([question], texts, [0] * len(texts))
    for row in range(len(texts)):
        ids, mask, types = map(torch.from_numpy, encoded.padded([row], tokenizer.pad_id))
        with torch.inference_mode():
            wrong, right = model(ids, mask, types, exits=(exit,))[exit][0]
        scores.append(float(right - wrong))
    return np.array(scores)


def raw(ranking):
    return np.array([item.raw_score for item in sorted(ranking, key=lambda item: item.index)])


def ranker_to(model, tokenizer, exit):
    """One stage, from the embeddings to an exit."""
    counts = TransformerFlops(model.encoder.hidden_size, model.encoder.feed_forward_size)
    return torch_stages(model, tokenizer, counts, (exit,))


def one_stage(model, tokenizer):
    return Ranker(ranker_to(model, tokenizer, 4))


def test_the_texts_are_enough_for_several_batches(cascade, question, texts):
    _, tokenizer = cascade
    assert tokenizer.encode([question], texts, [0] * len(texts)).lengths.sum() > 2 * TOKEN_BUDGET


def test_each_stage_scores_as_the_models_own_forward_pass_at_its_exit(cascade, question, texts):
    model, tokenizer = cascade
    pairs = Pairs([question], texts, np.zeros(len(texts), np.int64))
    state = None
    for stage in ranker_of(model, tokenizer).stages:
        scored = stage.score(pairs, state, NO_DEADLINE)
        state = scored.state
        np.testing.assert_allclose(scored.scores, own_scores(model, tokenizer, question, texts, stage.exit), atol=CLOSE)
    assert state is None, "the last stage passes nothing on"


def test_without_drops_two_stages_are_to_the_bit_one(cascade, question, texts):
    staged = ranker_of(*cascade).rank(question, texts)
    assert raw(staged).tolist() == raw(one_stage(*cascade).rank(question, texts)).tolist()
    assert {item.exit for item in staged} == {4}


@pytest.mark.parametrize("drop", [0.1, 0.5, 0.97])
def test_survivors_score_as_they_would_have_without_drops(cascade, question, texts, drop):
    model, tokenizer = cascade
    whole = raw(ranker_of(model, tokenizer).rank(question, texts, long="first"))
    early = own_scores(model, tokenizer, question, texts, 2)
    ranking = ranker_of(model, tokenizer).rank(question, texts, drop=drop, long="first")
    leave = int(drop * 100)
    assert [item.exit for item in ranking] == [4] * (100 - leave) + [2] * leave
    for item in ranking:
        expected = whole[item.index] if item.exit == 4 else early[item.index]
        assert item.raw_score == pytest.approx(expected, abs=CLOSE)
    assert ranking.relative_cost == (2 * 100 + 2 * (100 - leave)) / 400


def test_the_states_of_survivors_are_theirs(cascade, question, texts):
    model, tokenizer = cascade
    first, _ = ranker_of(model, tokenizer).stages
    state = first.score(Pairs([question], texts, np.zeros(len(texts), np.int64)), None, NO_DEADLINE).state
    rows = np.array([70, 3, 41, 3])
    taken = state.take(rows)
    alone = first.score(Pairs([question], [texts[row] for row in rows], np.zeros(4, np.int64)), None, NO_DEADLINE).state
    assert taken.encoded.ids.tolist() == alone.encoded.ids.tolist()
    torch.testing.assert_close(taken.hidden, alone.hidden, atol=1e-5, rtol=1e-5)


@pytest.fixture(scope="module")
def four(encoder_folder):
    """A cascade with an exit after each of its four layers."""
    torch.manual_seed(2)
    model = CascadeRanker(load_encoder(encoder_folder), CascadeShape((1, 2, 3, 4), max_length=48)).eval()
    return model, PairTokenizer.load(encoder_folder, max_length=48, pad_id=model.pad_id)


LENGTHS = st.lists(st.integers(0, 60), min_size=1, max_size=40)
PLANS = st.lists(st.sampled_from([0, 0.1, 0.5, 0.9]), min_size=3, max_size=3)


@given(LENGTHS, PLANS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_survivors_score_at_every_exit_as_if_no_candidates_were_dropped(four, words, lengths, plan):
    texts = [" ".join(words[i : i + length]) for i, length in enumerate(lengths)]
    ranker = ranker_of(*four)
    whole = {item.index: item.scores for item in ranker.rank(words[0], texts, drop=0, long="first")}
    ranking = ranker.rank(words[0], texts, drop=plan, long="first")
    assert sorted(item.index for item in ranking) == list(range(len(texts)))
    for item in ranking:
        assert item.scores == pytest.approx(whole[item.index][: len(item.scores)], abs=1e-5)


def test_without_drops_every_exit_is_to_the_bit_the_model_cut_there(four, question, texts):
    model, tokenizer = four
    scores = {item.index: item.scores for item in ranker_of(model, tokenizer).rank(question, texts, long="first")}
    for place, exit in enumerate(model.shape.exits):
        alone = Ranker(ranker_to(model, tokenizer, exit)).rank(question, texts, long="first")
        assert {item.index: item.raw_score for item in alone} == {i: own[place] for i, own in scores.items()}


@pytest.mark.parametrize(("head", "width"), [("mean", None), ("mean", 40), ("first", None)])
def test_operations_are_those_that_torch_counts(encoder_folders, head, width, question, texts):
    """torch counts matrix products as they are run (a fused attention hides them); one pair alone has no padding."""
    for name in ("bert", "distilbert"):
        model = CascadeRanker(
            load_encoder(encoder_folders[name]), CascadeShape((2, 4), head, max_length=48, head_width=width)
        ).eval()
        tokenizer = PairTokenizer.load(encoder_folders[name], max_length=48, pad_id=model.pad_id)
        ranker = ranker_of(model, tokenizer)
        for text in texts[:3]:
            with FlopCounterMode(display=False) as counted, sdpa_kernel(SDPBackend.MATH):
                ranking = ranker.rank(question, [text])
            assert ranking.flops == ranking.full_flops == counted.get_total_flops()


def test_the_score_is_the_softmax_of_the_two_logits(cascade, question, texts):
    model, tokenizer = cascade
    encoded = tokenizer.encode([question], texts[:1], [0])
    with torch.inference_mode():
        logits = model(*map(torch.from_numpy, encoded.padded([0], tokenizer.pad_id)))[4]
    (score,) = ranker_of(model, tokenizer).score(question, texts[:1])
    assert score == pytest.approx(float(torch.softmax(logits, -1)[0, 1]), abs=1e-6)


def test_the_sigmoid_overflows_on_neither_side():
    with np.errstate(over="raise", invalid="raise"):
        found = sigmoid(np.array([-1e4, -1, 0, 1, 1e4], np.float32))
    np.testing.assert_allclose(found, [0, 0.26894142, 0.5, 0.73105858, 1], rtol=1e-6)


def test_a_saved_ranker_ranks_as_the_one_in_memory(cascade_folder, question, texts):
    model = load(cascade_folder)
    tokenizer = PairTokenizer.load(cascade_folder, max_length=64, pad_id=model.pad_id)
    in_memory = ranker_of(model, tokenizer).rank(question, texts, drop=0.3)
    assert Ranker.load(cascade_folder).rank(question, texts, drop=0.3) == in_memory
