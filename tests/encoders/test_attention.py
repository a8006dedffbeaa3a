"""Attention written out, where a gradient is needed on a CPU, is the fused kernel's."""

import json
import shutil

import pytest
import torch
from test_encoder import ARCHITECTURES, real_tokens
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from cascada.encoders import attention
from cascada.encoders.encoder import load_encoder, set_encoder_dropout
from cascada.encoders.families import lowest_where


@pytest.fixture
def sides():
    torch.manual_seed(0)
    mask = lowest_where(torch.arange(6) >= torch.tensor([[6], [4]]), torch.float32)[:, None, None, :]
    return [torch.randn(2, 3, 6, 4, requires_grad=True) for _ in range(3)], mask


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("scaling", [None, 0.2])
def test_states_and_gradients_are_those_of_the_fused_kernel(sides, masked, scaling):
    inputs, mask = sides
    written, _ = attention.attention(torch.nn.Module(), *inputs, mask if masked else None, scaling=scaling)
    module = torch.nn.Module()
    module.is_causal = False
    fused, _ = sdpa_attention_forward(module, *inputs, mask if masked else None, scaling=scaling)
    torch.testing.assert_close(written, fused)
    gradients = (torch.autograd.grad(output.square().sum(), inputs) for output in (written, fused))
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("bfloat16", 5e-2)])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_encoders_compute_the_same_states_with_a_gradient_and_without(
    encoder_folders, words, name, precision, tolerance
):
    encoder = load_encoder(encoder_folders[name]).eval()
    ids, mask, types = real_tokens(encoder_folders[name], words)

    def states():
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            return encoder.output(encoder.run(encoder.embed(ids, types), mask, 0, encoder.depth)).float()

    with torch.no_grad():
        expected = states()
    trained = states()
    torch.testing.assert_close(trained[mask], expected[mask], atol=tolerance, rtol=tolerance)
    trained[mask].square().sum().backward()
    gradients = [weight.grad for weight in encoder.parameters() if weight.grad is not None]
    assert gradients
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_attention_weights_are_dropped_out(sides):
    inputs, mask = sides
    first, again = (attention.attention(torch.nn.Module(), *inputs, mask, dropout=0.5)[0] for _ in range(2))
    assert not torch.allclose(first, again)


def test_encoders_use_it_in_training(encoder_folder, monkeypatch):
    encoder = load_encoder(encoder_folder)
    assert encoder.config._attn_implementation == attention.NAME
    ids, mask = torch.randint(5, 50, (2, 7)), torch.ones(2, 7, dtype=torch.bool)
    calls = []
    monkeypatch.setattr(
        attention, "sdpa_attention_forward", lambda *given, **more: calls.append(1) or fused(*given, **more)
    )
    fused = sdpa_attention_forward
    encoder.run(encoder.embed(ids, torch.zeros_like(ids)), mask, 0, encoder.depth).sum().backward()
    assert not calls
    with torch.no_grad():
        encoder.run(encoder.embed(ids, torch.zeros_like(ids)), mask, 0, encoder.depth)
    assert len(calls) == encoder.depth


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_without_dropout_two_passes_in_training_agree(encoder_folders, name, words, tmp_path):
    folder = with_attention_dropout(encoder_folders[name], tmp_path / name)
    encoder = load_encoder(folder).train()
    ids, mask, types = real_tokens(folder, words)

    def states():
        return encoder.run(encoder.embed(ids, types), mask, 0, encoder.depth)[mask]

    assert not torch.allclose(states(), states())
    set_encoder_dropout(encoder, 0.0)
    torch.testing.assert_close(states(), states())


def with_attention_dropout(folder, copy):
    """A copy of the encoder; some have no dropout by their config."""
    shutil.copytree(folder, copy)
    config = json.loads((copy / "config.json").read_text())
    dropout = {"attention_dropout": 0.1, "attention_probs_dropout_prob": 0.1}
    (copy / "config.json").write_text(json.dumps(config | dropout))
    return copy


def test_dropout_of_attention_weights_can_be_turned_on_in_a_modernbert(encoder_folders, words):
    encoder = load_encoder(encoder_folders["modernbert"]).train()
    ids, mask, types = real_tokens(encoder_folders["modernbert"], words)
    embedded = encoder.embed(ids, types)
    set_encoder_dropout(encoder.layers[0].attn, 0.1)
    assert not torch.allclose(*(encoder.run(embedded, mask, 0, 1) for _ in range(2)))
