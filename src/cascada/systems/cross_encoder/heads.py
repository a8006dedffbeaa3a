"""The heads of a cross-encoder: the model's own, after its last layer, and the small ones of exits below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.activations import ACT2FN

from cascada.encoders.encoder import mean_of_tokens
from cascada.systems.cross_encoder.shape import ExitHead, Pooling

# Where each family has the parts of its head: the dense layer, the name of the activation, and the layer of the logits.
DENSE = ("classifier.dense", "tanh", "classifier.out_proj")
PARTS = {
    "bert": ("bert.pooler.dense", "tanh", "classifier"),
    "albert": ("albert.pooler", "tanh", "classifier"),
    "roberta": DENSE,
    "xlm-roberta": DENSE,
    "mpnet": DENSE,
    "electra": ("classifier.dense", "gelu", "classifier.out_proj"),
    "distilbert": ("pre_classifier", "relu", "classifier"),
    "modernbert": ("head.dense", "", "classifier"),  # the config names its activation, and that of DeBERTa's
    "deberta-v2": ("pooler.dense", "", "classifier"),
}


@dataclass(frozen=True)
class OwnHead:
    """A model's own head: pooling, a dense layer with its activation, a norm if there is one, one or two logits.

    The modules are the model's, not copies.
    """

    pooling: Literal["first", "mean"]
    dense: nn.Linear
    activation: str
    norm: nn.LayerNorm | None
    out: nn.Linear

    def __call__(self, states: Tensor, mask: Tensor) -> Tensor:
        """Raw scores (pairs,): the logit, or the second minus the first."""
        inner = ACT2FN[self.activation](self.dense(pool(self.pooling, states, mask)))
        logits: Tensor = self.out(inner if self.norm is None else self.norm(inner))
        return logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]


def own_head(model: PreTrainedModel) -> OwnHead:
    """The head of a model in transformers' own class."""
    config: Any = model.config
    dense, activation, out = PARTS[config.model_type]
    parts: list[Any] = [model.get_submodule(name) for name in (dense, out)]
    if config.model_type == "deberta-v2":
        activation = config.pooler_hidden_act
    if config.model_type != "modernbert":
        return OwnHead("first", parts[0], activation, None, parts[1])
    pooling: Literal["first", "mean"] = "mean" if config.classifier_pooling == "mean" else "first"
    norm: Any = model.get_submodule("head.norm")
    return OwnHead(pooling, parts[0], config.classifier_activation, norm, parts[1])


def new_head(head: ExitHead, hidden: int) -> nn.Sequential:
    """A head of an exit below the last layer, from pooled states (pairs, pooled) to scores (pairs, 1)."""
    pooled = head.pooled(hidden)
    if not head.width:
        return nn.Sequential(nn.Linear(pooled, 1))
    return nn.Sequential(nn.Linear(pooled, head.width), nn.Tanh(), nn.Linear(head.width, 1))


def pool(pooling: Pooling, states: Tensor, mask: Tensor) -> Tensor:
    """States (pairs, tokens, hidden) as one vector per pair, (pairs, pooled)."""
    if pooling == "first":
        return states[:, 0]
    mean = mean_of_tokens(states, mask)
    return mean if pooling == "mean" else torch.cat((states[:, 0], mean), -1)
