"""A staged ranker has one head per exit and scores at any of them."""

import pytest
import torch

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.systems.cascade import network
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape


@pytest.fixture(scope="module")
def model(encoder_folder):
    torch.manual_seed(1)
    return CascadeRanker(load_encoder(encoder_folder), CascadeShape((2, 4), head="mean", max_length=32)).eval()


@pytest.fixture
def inputs():
    ids = torch.randint(5, 300, (3, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.arange(9) < torch.tensor([9, 4, 6])[:, None]
    return ids.masked_fill(~mask, 0), mask, torch.zeros_like(ids)


def test_the_last_exit_is_the_one_scored_when_none_is_named(model, inputs):
    assert torch.equal(model(*inputs)[4], model(*inputs, exits=(4,))[4])
    assert {exit: logits.shape for exit, logits in model(*inputs).items()} == {4: (3, 2)}


def test_an_exit_is_scored_on_the_states_of_its_own_layer(model, inputs):
    ids, mask, types = inputs
    states = model.encoder.run(model.encoder.embed(ids, types), mask, 0, 2)
    assert torch.equal(model(*inputs, exits=(2,))[2], model.heads["2"](states, mask))


def test_several_exits_come_from_one_pass(model, inputs):
    both = model(*inputs, exits=(2, 4))
    assert {exit: torch.equal(both[exit], model(*inputs, exits=(exit,))[exit]) for exit in both} == {2: True, 4: True}


def test_a_large_batch_is_padded_in_parts_and_scores_each_pair_as_by_itself(model, monkeypatch):
    lengths = torch.tensor([9, 3, 7, 3, 8, 4])
    ids = torch.randint(5, 300, (6, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.arange(9) < lengths[:, None]
    whole = model(ids, mask, torch.zeros_like(ids), exits=(2, 4))
    monkeypatch.setattr(network, "CHUNK_TOKENS", 18)
    read = []
    embed = model.encoder.embed
    monkeypatch.setattr(model.encoder, "embed", lambda ids, types: read.append(tuple(ids.shape)) or embed(ids, types))
    parts = model(ids, mask, torch.zeros_like(ids), exits=(2, 4))
    assert read == [(2, 3), (2, 7), (2, 9)], "two pairs at a time, the shortest first"
    assert all(torch.allclose(parts[exit], whole[exit], atol=1e-6) for exit in (2, 4))


def reached(model, logits):
    """What the gradient of some logits comes to: layers (0 for the embeddings), and the exits with a head."""
    model.zero_grad()
    sum(value.sum() for value in logits.values() if value.requires_grad).backward()
    names = [name for name, value in model.named_parameters() if value.grad is not None]
    layers = {int(name.split(".layer.")[1].split(".")[0]) + 1 for name in names if ".layer." in name}
    embeddings = {0} if any("word_embeddings" in name for name in names) else set()
    return layers | embeddings, {int(name.split(".")[1]) for name in names if name.startswith("heads.")}


def test_an_exits_loss_reaches_the_layers_below_it_and_no_other(model, inputs):
    assert reached(model, model(*inputs, exits=(2,))) == ({0, 1, 2}, {2})
    assert reached(model, model(*inputs, exits=(4,))) == ({0, 1, 2, 3, 4}, {4})


def test_with_stop_gradient_an_exits_loss_stops_at_the_exit_before(model, inputs):
    assert reached(model, model(*inputs, exits=(4,), stop_gradient=True)) == ({3, 4}, {4})
    assert reached(model, model(*inputs, exits=(2,), stop_gradient=True)) == ({0, 1, 2}, {2})
    together, apart = model(*inputs, exits=(2, 4)), model(*inputs, exits=(2, 4), stop_gradient=True)
    assert all(torch.equal(together[exit], apart[exit]) for exit in (2, 4))
    assert reached(model, apart) == ({0, 1, 2, 3, 4}, {2, 4})


def test_the_teacher_is_the_last_exit_and_gets_no_gradient(model, inputs):
    logits = model(*inputs, exits=(2,), teacher=True)
    torch.testing.assert_close(logits[4], model(*inputs)[4])  # with a gradient, attention is computed in another order
    assert not logits[4].requires_grad
    assert reached(model, logits) == ({0, 1, 2}, {2})


def test_nothing_has_a_gradient_where_none_is_wanted(model, inputs):
    with torch.no_grad():
        assert not any(value.requires_grad for value in model(*inputs, exits=(2, 4), teacher=True).values())


@pytest.mark.parametrize("exits", [(), (0,), (4, 2), (2, 2), (-1,)])
def test_exits_that_do_not_rise_are_rejected(exits):
    with pytest.raises(CascadaError, match=r"exits are .*rising order"):
        CascadeShape(exits)


def test_an_unknown_head_is_rejected():
    with pytest.raises(CascadaError, match="head is 'median'; there are first, mean"):
        CascadeShape((4,), head="median")


def test_an_exit_past_the_encoders_last_layer_is_rejected(encoder_folder):
    with pytest.raises(CascadaError, match="last exit is at layer 6, but the encoder has 4"):
        CascadeRanker(load_encoder(encoder_folder), CascadeShape((2, 6)))


def test_texts_longer_than_the_encoder_reads_are_rejected(encoder_folders):
    for name in ("bert", "roberta"):
        with pytest.raises(CascadaError, match="max_length is 513, but the encoder reads 512 tokens"):
            CascadeRanker(load_encoder(encoder_folders[name]), CascadeShape((4,), max_length=513))
