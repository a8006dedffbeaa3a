"""Average a trained late-interaction ranker with the encoder that it started from, and add the cosine of means to it.

    python recipes/mini/average.py runs/mini-trained runs/e5-small runs/mini-averaged data/mini/passages-scored.jsonl

Training on some kinds of text makes an encoder worse on others; the average keeps most of both. The lists are only used
for the scale of the two similarities.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from cascada.core.folder import read_card
from cascada.data import load as load_groups
from cascada.data.sample import sample
from cascada.encoders.encoder import load_encoder
from cascada.systems.decoupled.engine_torch import tokenizer_of
from cascada.systems.decoupled.examples import SideExamples
from cascada.systems.decoupled.folder import load, save
from cascada.systems.decoupled.learner import start_comparing
from cascada.systems.decoupled.network import DecoupledRanker

LISTS = 200


def averaged(trained: DecoupledRanker, encoder: Path, share: float) -> DecoupledRanker:
    """The weighted average of the trained ranker's tower, with weight `share`, and the encoder, with 1 - `share`."""
    begun = load_encoder(encoder)
    model = DecoupledRanker(begun, replace(trained.shape, match="both"))
    trained_weights = trained.document.state_dict()
    mixed = {
        name: torch.lerp(value, trained_weights[name], share) if value.is_floating_point() else value
        for name, value in model.document.state_dict().items()
    }
    model.document.load_state_dict(mixed)
    if model.exit_zero and trained.exit_zero:
        model.exit_zero.load_state_dict(trained.exit_zero.state_dict())
    return model.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trained", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("lists")
    parser.add_argument("--share", type=float, default=0.65, help="of the trained weights")
    options = parser.parse_args()
    model = averaged(load(options.trained), options.encoder, options.share)
    groups = sample(load_groups(options.lists, mode="raw"), LISTS, lambda group: group.question)
    start_comparing(model, SideExamples.of(groups, tokenizer_of(model, options.trained)))
    card = f"{read_card(options.trained)}\n\nIts weights were averaged with those of its encoder.\n"
    save(model, options.out, tokenizer=options.trained, card=card)


if __name__ == "__main__":
    main()
