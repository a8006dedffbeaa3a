"""Hierarchical ranking on a cascade: every exit gets a head per level for training, folded into one head to rank."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from cascada.encoders.encoder import mean_of_tokens
from cascada.objectives.level_heads import integrated_features, logits_of
from cascada.objectives.levels import Levels, levels_needed, levels_seen, objective_of
from cascada.systems.cascade.heads import MeanHead
from cascada.systems.cascade.network import CascadeRanker


class HierarchicalHead(nn.Module):
    """Computes the logits of all levels; those of the main level, which ranks, come first."""

    def __init__(self, start: MeanHead, levels: Levels, main: str) -> None:
        """Start all levels from one trained head. Features read from other levels have weight 0 at first, so that every
        level scores as that head does."""
        super().__init__()
        self.levels = levels
        self.main = main
        self.dense = nn.ModuleDict({level: copy.deepcopy(start.dense) for level in levels})
        self.out = nn.ModuleDict({level: _out(start.out, level, count) for level, count in levels_seen(levels).items()})

    @property
    def order(self) -> tuple[str, ...]:
        """The levels in the order of their logits."""
        return (self.main, *(level for level in self.levels if level != self.main))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(pairs, 2 · levels): two logits for each level, whose difference is its score."""
        mean = mean_of_tokens(states, mask)
        features = integrated_features(self.levels, {level: self.dense[level](mean) for level in self.levels})
        return torch.cat([logits_of(self.out[level](features[level])) for level in self.order], -1)

    def by_level(self, logits: Tensor) -> dict[str, Tensor]:
        return dict(zip(self.order, logits.view(len(logits), -1, 2).unbind(1), strict=True))


def _out(start: nn.Linear, level: str, count: int) -> nn.Linear:
    point = objective_of(level) == "point"
    out = nn.Linear(start.in_features * count, 2 if point else 1)
    with torch.no_grad():
        out.weight.zero_()
        own, bias = (start.weight, start.bias) if point else (start.weight[1:] - start.weight[:1], start.bias.diff())
        out.weight[:, -start.in_features :] = own
        out.bias.copy_(bias)
    return out


def with_levels(model: CascadeRanker, levels: Levels, main: str) -> CascadeRanker:
    """Replace every exit's head by one head per level, all of them starting from the present one."""
    heads = {exit: HierarchicalHead(head, levels, main) for exit, head in model.heads.items()}  # type: ignore[arg-type]
    model.heads = nn.ModuleDict(heads)
    return model


def folded(model: CascadeRanker) -> CascadeRanker:
    """The same cascade with one plain head on every exit, which scores as the main level does."""
    heads = {exit: fold(head) for exit, head in model.heads.items()}  # type: ignore[arg-type]
    width = next(iter(heads.values())).out.in_features
    plain = copy.copy(model)
    plain._modules = {**model._modules, "heads": nn.ModuleDict(heads)}
    plain.shape = dataclasses.replace(model.shape, head_width=width)
    return plain


def fold(head: HierarchicalHead) -> MeanHead:
    """Put the main level and the levels it reads into one head: their weights become blocks on a diagonal."""
    used = levels_needed(head.levels, head.main)
    stacks = [[part for part in head.dense[level].modules() if isinstance(part, nn.Linear)] for level in used]
    hidden, own = stacks[0][0].in_features, stacks[0][-1].out_features
    plain = MeanHead(hidden, 0.0, own * len(used))
    first, *others = (part for part in plain.dense if isinstance(part, nn.Linear))
    with torch.no_grad():
        first.weight.copy_(torch.cat([stack[0].weight for stack in stacks]))
        first.bias.copy_(torch.cat([stack[0].bias for stack in stacks]))
        for place, layer in enumerate(others, 1):
            layer.weight.copy_(torch.block_diag(*(stack[place].weight for stack in stacks)))  # type: ignore[no-untyped-call]
            layer.bias.copy_(torch.cat([stack[place].bias for stack in stacks]))
        weight, bias = (logits_of(value.t()).t() for value in _parts(head.out[head.main]))
        plain.out.weight.copy_(torch.stack([_spread(row, head, used, own) for row in weight]))
        plain.out.bias.copy_(bias[:, 0])
    plain.train(head.training)
    return plain


def _parts(out: nn.Module) -> tuple[Tensor, Tensor]:
    """Weights (outputs, features) and biases (outputs, 1)."""
    weight, bias = out.get_parameter("weight"), out.get_parameter("bias")
    return weight, bias[:, None]


def _spread(weight: Tensor, head: HierarchicalHead, used: tuple[str, ...], own: int) -> Tensor:
    """Turn weights of the main level's integrated feature into weights of the used levels' own features."""
    place: Mapping[str, Tensor] = {
        level: torch.arange(at * own, (at + 1) * own)[None].to(weight.device) for at, level in enumerate(used)
    }
    columns = integrated_features({level: head.levels[level] for level in used}, place)[head.main][0]
    return weight.new_zeros(own * len(used)).index_add(0, columns, weight)
