"""The compare-aggregate network against the paper's equations, computed pair by pair without padding."""

import json

import numpy as np
import pytest
import torch

from cascada.core.errors import CascadaError
from cascada.objectives.level_heads import score_of
from cascada.objectives.levels import SCHEMES
from cascada.systems.cascade import folder as checkpoint
from cascada.systems.compare_aggregate.aggregation import Aggregation, aggregate, filters_of
from cascada.systems.compare_aggregate.folder import at_level, load, save
from cascada.systems.compare_aggregate.network import CompareAggregateRanker, attention
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.text.vocabulary import Vocabulary

SMALL = {"embedding": 6, "hidden": 5, "channels": 3, "widths": (1, 2, 3)}
WORDS = 30


def network(scheme="MTL", **sizes):
    torch.manual_seed(3)
    return CompareAggregateRanker(CompareAggregateShape(SCHEMES[scheme], **{**SMALL, **sizes}), WORDS).eval()


def ids(lengths, seed=0):
    """(pairs, longest) word ids of texts of these lengths."""
    random = np.random.default_rng(seed)
    table = np.zeros((len(lengths), max(lengths)), np.int64)
    for row, length in enumerate(lengths):
        table[row, :length] = random.integers(2, WORDS, length)
    return torch.from_numpy(table)


QUESTIONS, TEXTS = ids([3, 1, 4, 2, 3]), ids([2, 9, 1, 5, 30], seed=1)


def slow_softmax(scores, most):
    weights = np.exp(scores - scores.max())
    if most is not None:
        kept = np.argsort(-weights, kind="stable")[:most]
        weights = np.where(np.isin(np.arange(len(weights)), kept), weights, 0)
    return weights / weights.sum()


def slow_features(model, question, text, level):
    """r of one pair, from equations 1 to 5, with k-max as its origin has it: largest weights kept and renormalised."""
    weights = {name: value.numpy().astype(np.float64) for name, value in model.state_dict().items()}

    def encoded(words):
        vectors = weights["embedding.weight"][words]
        gate = vectors @ weights["encode.gate.weight"].T + weights["encode.gate.bias"]
        content = vectors @ weights["encode.content.weight"].T + weights["encode.content.bias"]
        return np.tanh(content) / (1 + np.exp(-gate))

    def aggregated(compared):
        found = []
        for place, width in enumerate(model.shape.widths):
            kernel = weights[f"aggregate.{level}.convolutions.{place}.weight"]  # (channels, hidden, width)
            bias = weights[f"aggregate.{level}.convolutions.{place}.bias"]
            before = (width - 1) // 2
            padded = np.pad(compared, ((before, width - 1 - before), (0, 0)))
            windows = [padded[at : at + width] for at in range(len(compared))]
            values = [np.einsum("chw,wh->c", kernel, window) + bias for window in windows]
            found.append(np.maximum(np.max(values, 0), 0))
        return np.concatenate(found)

    first, second = encoded(question), encoded(text)
    scores = first @ second.T
    of_question, of_text = model.shape.k_max or (None, None)
    aligned_first = np.stack([slow_softmax(row, of_text) for row in scores]) @ second
    aligned_second = np.stack([slow_softmax(row, of_question) for row in scores.T]) @ first
    return np.concatenate([aggregated(aligned_first * first), aggregated(aligned_second * second)])


@pytest.mark.parametrize("k_max", [None, (2, 3)])
@pytest.mark.parametrize("level", ["point", "list"])
def test_features_are_those_of_the_equations_whatever_stands_beside_them(k_max, level):
    model = network(k_max=k_max)
    with torch.inference_mode():
        found = model.features(QUESTIONS, TEXTS, (level,))[level].numpy()
    for row, (question, text) in enumerate(zip(QUESTIONS.tolist(), TEXTS.tolist(), strict=True)):
        words = [word for word in question if word], [word for word in text if word]
        np.testing.assert_allclose(found[row], slow_features(model, *words, level), atol=1e-5)


def test_padding_changes_nothing():
    model = network(k_max=(2, 3))
    wider = [torch.nn.functional.pad(table, (0, 7)) for table in (QUESTIONS, TEXTS)]
    for level, output in model(QUESTIONS, TEXTS).items():
        torch.testing.assert_close(output, model(*wider)[level])


def test_padding_gets_no_gradient():
    model = network().train()
    sum(output.sum() for output in model(QUESTIONS, TEXTS).values()).backward()
    assert not model.embedding.weight.grad[0].any()
    assert model.embedding.weight.grad[TEXTS[0, 0]].any()


def test_many_pairs_are_computed_in_parts_and_come_out_in_their_order(monkeypatch):
    model = network("PRI(list)")
    whole = model(QUESTIONS, TEXTS)
    monkeypatch.setattr("cascada.systems.compare_aggregate.network.WORD_BUDGET", 8)
    for level, output in model(QUESTIONS, TEXTS).items():
        torch.testing.assert_close(output, whole[level])


def test_the_main_level_ranks():
    model = network("MTL", main="pair")
    torch.testing.assert_close(model.score(QUESTIONS, TEXTS), score_of(model(QUESTIONS, TEXTS)["pair"]))


def test_k_max_keeps_the_largest_weights_and_they_sum_to_one():
    scores, mask = torch.tensor([[[3.0, 1.0, 2.0, 9.0]]]), torch.tensor([[True, True, True, False]])
    kept = attention(scores, mask, 2)[0, 0]
    first, third = torch.softmax(torch.tensor([3.0, 2.0]), 0).tolist()
    assert kept.tolist() == pytest.approx([first, 0, third, 0])
    torch.testing.assert_close(attention(scores, mask, 9), attention(scores, mask, None))


def test_fixed_vectors_are_not_learned_and_tuned_ones_are():
    vectors = torch.randn(WORDS, 6)
    for tuned in (False, True):
        model = network()
        model.set_vectors(vectors, tuned=tuned)
        sum(output.sum() for output in model.train()(QUESTIONS, TEXTS).values()).backward()
        assert (model.embedding.weight.grad is not None) is tuned
        assert torch.equal(model.embedding.weight, vectors)


def plain_aggregation(states, mask, level):
    """Equation 5 as torch has it: convolutions over padded texts."""
    found = []
    for layer in level.convolutions:
        width = layer.kernel_size[0]
        words = (states * mask[..., None]).transpose(1, 2)
        values = layer(torch.nn.functional.pad(words, ((width - 1) // 2, width // 2)))
        found.append(values.masked_fill(~mask[:, None], -torch.inf).amax(-1).relu())
    return torch.cat(found, -1)


def test_aggregation_has_the_values_and_the_gradients_of_padded_convolutions():
    torch.manual_seed(1)
    levels = [Aggregation(5, 3, (1, 2, 5)).double() for _ in range(2)]
    mask = TEXTS != 0
    states = torch.randn(*mask.shape, 5, dtype=torch.float64, requires_grad=True)
    widths = [found.chunk(2, -1) for found in aggregate(states, mask, filters_of(levels))]
    found = torch.cat([width[level] for level in range(2) for width in widths], -1)
    plain = torch.cat([plain_aggregation(states, mask, level) for level in levels], -1)
    torch.testing.assert_close(found, plain)
    leaves = [states, *(weight for level in levels for weight in level.parameters())]
    direction = torch.randn_like(plain)
    for own, expected in zip(
        torch.autograd.grad((found * direction).sum(), leaves),
        torch.autograd.grad((plain * direction).sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(own, expected)


# Its folder


@pytest.fixture
def folder(tmp_path):
    save(
        network(),
        tmp_path / "ranker",
        vocabulary=Vocabulary([f"w{number}" for number in range(WORDS - 2)]),
        card="# Card\n",
    )
    return tmp_path / "ranker"


def test_a_network_comes_back_to_the_bit_with_its_vocabulary(folder):
    model, vocabulary = load(folder)
    assert model.shape == network().shape
    assert torch.equal(model.score(QUESTIONS, TEXTS), network().score(QUESTIONS, TEXTS))
    assert vocabulary.words[:2] == ("w0", "w1")
    assert {path.name for path in folder.iterdir()} == {"cascada.json", "model.safetensors", "words.txt", "README.md"}
    about = json.loads((folder / "cascada.json").read_text())
    assert (about["kind"], about["exits"], about["main"]) == ("compare-aggregate", [0], "list")


def test_one_model_can_be_read_at_each_of_its_levels(folder, tmp_path):
    at_level(folder, "point", tmp_path / "at-point")
    model, _ = load(tmp_path / "at-point")
    expected = score_of(network()(QUESTIONS, TEXTS)["point"])
    torch.testing.assert_close(model.score(QUESTIONS, TEXTS), expected)
    with pytest.raises(CascadaError, match="The main level is word, but the levels are"):
        at_level(folder, "word", tmp_path / "other")
    with pytest.raises(CascadaError, match="already holds a ranker"):
        at_level(folder, "pair", tmp_path / "at-point")


@pytest.mark.parametrize(
    ("change", "said"),
    [({"colour": 1}, "damaged: .*colour"), ({"channels": 4}, "does not hold the weights"), ({"levels": 3}, "damaged")],
)
def test_a_damaged_folder_is_reported_in_a_sentence(folder, change, said):
    path = folder / "cascada.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CascadaError, match=said):
        load(folder)


def test_it_is_no_transformer(folder):
    with pytest.raises(CascadaError, match="is a compare-aggregate ranker; this needs a transformer"):
        checkpoint.load(folder)
