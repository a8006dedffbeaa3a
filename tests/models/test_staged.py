"""A staged ranker has one head per exit and scores at any of them."""

import pytest
import torch

from cascada.errors import CascadaError
from cascada.models.encoder import load_encoder
from cascada.models.staged import Shape, StagedRanker


@pytest.fixture(scope="module")
def model(encoder_folder):
    return StagedRanker(load_encoder(encoder_folder), Shape((2, 4), head="mean", max_length=32)).eval()


@pytest.fixture
def inputs():
    ids = torch.randint(5, 300, (3, 9))
    mask = torch.arange(9) < torch.tensor([9, 4, 6])[:, None]
    return ids.masked_fill(~mask, 0), mask, torch.zeros_like(ids)


def test_the_last_exit_is_the_one_scored_when_none_is_named(model, inputs):
    assert torch.equal(model(*inputs), model(*inputs, exit=4))
    assert model(*inputs).shape == (3, 2)


def test_an_exit_is_scored_on_the_states_of_its_own_layer(model, inputs):
    ids, mask, types = inputs
    states = model.encoder.run(model.encoder.embed(ids, types), mask, 0, 2)
    assert torch.equal(model(*inputs, exit=2), model.heads["2"](states, mask))


def test_an_exits_loss_reaches_the_layers_below_it_and_no_other(model, inputs):
    model.zero_grad()
    model(*inputs, exit=2).sum().backward()
    reached = {name for name, value in model.named_parameters() if value.grad is not None}
    layers = {int(name.split(".layer.")[1].split(".")[0]) for name in reached if ".layer." in name}
    assert layers == {0, 1}
    assert any("word_embeddings" in name for name in reached)
    assert {name.split(".")[1] for name in reached if name.startswith("heads.")} == {"2"}


@pytest.mark.parametrize("exits", [(), (0, 4), (4, 2), (2, 2), (-1,)])
def test_exits_that_do_not_rise_are_refused(exits):
    with pytest.raises(CascadaError, match=r"exits are .*rising order"):
        Shape(exits)


def test_an_unknown_head_is_refused():
    with pytest.raises(CascadaError, match="head is 'median'; there are first, mean"):
        Shape((4,), head="median")


def test_an_exit_past_the_encoders_last_layer_is_refused(encoder_folder):
    with pytest.raises(CascadaError, match="last exit is at layer 6, but the encoder has 4"):
        StagedRanker(load_encoder(encoder_folder), Shape((2, 6)))


def test_texts_longer_than_the_encoder_reads_are_refused(encoder_folders):
    for name in ("bert", "roberta"):
        with pytest.raises(CascadaError, match="max_length is 513, but the encoder reads 512 tokens"):
            StagedRanker(load_encoder(encoder_folders[name]), Shape((4,), max_length=513))
