"""A decoupled ranker with random weights, and what its model computes in one piece."""

import torch

from cascada.encoders.encoder import load_encoder
from cascada.systems.decoupled.engine_torch import TorchEngine, tokenizer_of
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape

SIZES = {"question_length": 12, "max_length": 32}


def engine_of(folder, **shape):
    torch.manual_seed(5)
    model = DecoupledRanker(load_encoder(folder), DecoupledShape(**SIZES | shape)).eval()
    for classifier in model.classifiers.values():  # those that add to the cosine start at zero
        torch.nn.init.normal_(classifier[-1].weight)
    if model.shape.match == "both":
        model.cosine.weights.data.copy_(torch.tensor([1.5, 0.6]))
    return TorchEngine(model, tokenizer_of(model, folder))


def in_one_piece(engine, question, text):
    """One pair by itself through the model's forward pass: its score at every exit that follows a layer."""
    sides = [engine.tokenizer.question.encode_alone([question]), engine.tokenizer.document.encode_alone([text])]
    ids = [torch.from_numpy(side.padded([0], engine.tokenizer.pad_id)[0]) for side in sides]
    inputs = [value for side in ids for value in (side, torch.ones_like(side, dtype=torch.bool))]
    with torch.inference_mode():
        logits = engine.model(*inputs, torch.tensor([0]), exits=engine.shape.layer_exits)
    return [float(own[0, 1] - own[0, 0]) for _, own in sorted(logits.items())]
