"""Somebody's own cross-encoder scores as it does in transformers, whatever its architecture, and however it is cut."""

import dataclasses

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from cascada import CascadaError, Ranker
from cascada.systems.cross_encoder.engine_torch import ranker_of
from cascada.systems.cross_encoder.folder import load, pair_tokenizer, save, with_added_exits
from cascada.systems.cross_encoder.hub import FAMILIES
from cascada.systems.cross_encoder.shape import ExitHead
from cascada.systems.export import export

CLOSE = 1e-4
LONGEST = 64


@pytest.fixture(scope="module")
def texts(words):
    """Some short, some that do not fit beside the question."""
    return [" ".join(words[i : i + 1 + i * 7 % 80]) for i in range(30)]


def own_logits(folder, question, texts, *, longest=LONGEST):
    """transformers' own forward pass, one padded batch, cut as sentence-transformers cuts: the longer side first."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    batch = tokenizer(
        [question] * len(texts),
        texts,
        padding=True,
        truncation="longest_first",
        max_length=longest,
        return_tensors="pt",
    )
    with torch.inference_mode():
        return model(**batch).logits.numpy()


def ranker_at(folder, longest=LONGEST):
    """The folder's ranker, that reads `longest` tokens."""
    network = load(folder)
    network.shape = dataclasses.replace(network.shape, max_length=longest)
    return ranker_of(network, pair_tokenizer(folder, network))


def raw(ranking):
    return np.array([item.raw_score for item in sorted(ranking, key=lambda item: item.index)])


def test_there_is_an_instance_of_every_family(cross_encoder_folders):
    assert set(FAMILIES) <= {*cross_encoder_folders}


EXPORTED = [*FAMILIES, "minilm", "modernbert-mean", "deberta-v2-types"]


@pytest.fixture(scope="module", params=[*EXPORTED, "deberta-v2-conv"])
def folder(request, cross_encoder_folders):
    return cross_encoder_folders[request.param]


@pytest.fixture(scope="module", params=EXPORTED)
def exportable(request, cross_encoder_folders):
    return cross_encoder_folders[request.param]


def test_scores_are_those_of_transformers_own_forward_pass(folder, words, texts):
    question = f"{words[3]} {words[40]}?"
    logits = own_logits(folder, question, texts)
    assert np.ptp(logits) > 100 * CLOSE, "random weights tell the texts apart"
    assert raw(ranker_at(folder).rank(question, texts, long="first")) == pytest.approx(logits[:, 0], abs=CLOSE)


def test_a_long_question_is_cut_as_transformers_cuts_it(cross_encoder_folder, words, texts):
    for length in (20, 30, 31, 45, 70):
        question = " ".join(words[100 : 100 + length])
        logits = own_logits(cross_encoder_folder, question, texts)
        assert raw(ranker_at(cross_encoder_folder).rank(question, texts, long="first")) == pytest.approx(
            logits[:, 0], abs=CLOSE
        )


def test_exits_below_change_nothing_at_the_last_one(folder, words, texts):
    network = load(folder)
    tokenizer = pair_tokenizer(folder, network)
    whole = ranker_of(network, tokenizer).rank(words[3], texts, long="first")
    exits = with_added_exits(network, (0, 1, 3, 4), ExitHead("both", width=8))
    ranking = ranker_of(exits, tokenizer).rank(words[3], texts, drop=0.3, long="first")
    survivors = [item for item in ranking if item.exit == 4]
    assert 0 < len(survivors) < len(texts)
    assert [item.raw_score for item in survivors] == pytest.approx(
        [raw(whole)[item.index] for item in survivors], abs=1e-6
    )


def test_the_states_that_exits_learn_from_are_those_that_their_heads_read(cross_encoder_folder, words):
    network = with_added_exits(load(cross_encoder_folder), (2, 4), ExitHead("both", width=8))
    encoded = pair_tokenizer(cross_encoder_folder, network).encode([words[0]], [words[1], " ".join(words[:9])], [0, 0])
    inputs = [torch.from_numpy(array) for array in encoded.padded([0, 1], network.pad_id)]
    with torch.inference_mode():
        pooled, scores = network.pooled_states(*inputs)
        direct = network(*inputs, exits=(2, 4))
        assert pooled.shape == (2, 4, 64)
        assert network.heads["2"](pooled[:, 1])[:, 0].tolist() == pytest.approx(direct[2].tolist(), abs=1e-6)
    assert scores.tolist() == pytest.approx(direct[4].tolist(), abs=1e-6)


def test_a_saved_model_keeps_its_exits_and_is_still_the_one_it_was_made_from(folder, tmp_path, words, texts):
    network = with_added_exits(load(folder), (0, 2, 4), ExitHead("mean"))
    tokenizer = pair_tokenizer(folder, network)
    with torch.no_grad():
        network.heads["2"][0].weight.fill_(0.5)
        network.exit_zero.rescale(2.0, 1.0)
    save(network, tmp_path / "saved", tokenizer=folder, card="# With exits\n")
    before, after = ranker_of(network, tokenizer), Ranker.load(tmp_path / "saved")
    assert after.exits == (0, 2, 4)
    pairs = [(words[3], texts)]
    assert np.array_equal(next(after.exit_scores(pairs)), next(before.exit_scores(pairs)))
    assert np.array_equal(own_logits(tmp_path / "saved", words[3], texts), own_logits(folder, words[3], texts))


def test_exported_graphs_score_as_transformers_own_forward_pass(exportable, tmp_path, words, texts):
    export(exportable, tmp_path / "fp32", "fp32")
    logits = own_logits(exportable, words[3], texts, longest=load(exportable).shape.max_length)
    assert raw(Ranker.load(tmp_path / "fp32").rank(words[3], texts, long="first")) == pytest.approx(
        logits[:, 0], abs=CLOSE
    )


def test_every_exit_is_exported_in_both_precisions(exportable, tmp_path, words, texts):
    network = with_added_exits(load(exportable), (0, 2, 4), ExitHead("both", width=8))
    save(network, tmp_path / "saved", tokenizer=exportable, card="# With exits\n")
    pairs = [(words[3], texts)]
    trained = next(Ranker.load(tmp_path / "saved").exit_scores(pairs))
    for precision, close in (("fp32", CLOSE), ("int8", 0.07)):
        export(tmp_path / "saved", tmp_path / precision, precision)
        exported = Ranker.load(tmp_path / precision)
        assert exported.exits == (0, 2, 4)
        assert next(exported.exit_scores(pairs)) == pytest.approx(trained, abs=close)


def test_what_cannot_be_exported_is_a_sentence(cross_encoder_folders, tmp_path):
    with pytest.raises(CascadaError, match="convolution after the first layer cannot be exported: run it in torch"):
        export(cross_encoder_folders["deberta-v2-conv"], tmp_path / "out", "fp32")
    assert not (tmp_path / "out").exists()
