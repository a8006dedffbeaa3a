"""A layer for some of its tokens alone."""

import pytest
import torch

from cascada.encoders.encoder import load_encoder
from cascada.encoders.families import additive_mask
from cascada.encoders.layers import some_rows


@pytest.mark.parametrize("name", ["bert", "minilm", "distilbert"])
@pytest.mark.parametrize("training", [False, True])
def test_some_rows_are_the_whole_layers_and_so_is_their_gradient(encoder_folders, name, training):
    encoder = load_encoder(encoder_folders[name])
    for part in encoder.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    layer = encoder.layers[0].train(training)
    states = torch.randn(3, 7, encoder.hidden_size, requires_grad=True)
    hidden = additive_mask(torch.arange(7) < torch.tensor([[7], [4], [5]]), states.dtype)
    whole = layer(states, hidden)
    whole = whole[0] if isinstance(whole, tuple) else whole
    expected = whole[:, [0, 3]]
    rows = some_rows(layer, encoder.config, states[:, [0, 3]], states, hidden)
    torch.testing.assert_close(rows, expected, atol=1e-5, rtol=1e-4)
    weights = [states, *layer.parameters()]
    found, wanted = (torch.autograd.grad((one**2).sum(), weights) for one in (rows, expected))
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-3)


def test_attention_weights_are_dropped_out_while_it_learns(encoder_folder):
    encoder = load_encoder(encoder_folder)
    own = encoder.layers[0]
    own.attention.self.dropout.p, own.attention.output.dropout.p, own.output.dropout.p = 0.5, 0.0, 0.0
    states = torch.randn(2, 6, encoder.hidden_size)
    first, again = (some_rows(encoder.layers[0].train(), encoder.config, states[:, :2], states, None) for _ in range(2))
    assert not torch.allclose(first, again)
