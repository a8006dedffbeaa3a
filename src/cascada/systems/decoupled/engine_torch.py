"""The torch engine of decoupled rankers: the parts as they were trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cascada.core.folder import read_shape
from cascada.ranking.stage import Bools, Floats, Ints
from cascada.systems.cascade.engine_torch import TOKEN_BUDGET
from cascada.systems.decoupled.cost import DecoupledArithmetic
from cascada.systems.decoupled.folder import load
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.parts import Array, Meeting
from cascada.text.sides import SideTokenizer


class TorchParts:
    """A model in memory, part by part."""

    budget = TOKEN_BUDGET

    def __init__(self, model: DecoupledRanker, tokenizer: SideTokenizer, fingerprint: str = "") -> None:
        """`model` should be in the state for scoring; what it adds at the join is read now."""
        shape = model.shape
        self.model = model
        self.tokenizer = tokenizer
        self.fingerprint = fingerprint
        self.join = shape.join
        self.exits = shape.exits
        self.first_only = shape.interaction == "linear"
        self.onto_cosine = shape.onto_cosine
        self.width = shape.keep or model.hidden
        self.meeting = meeting_of(model)
        self.arithmetic = DecoupledArithmetic(
            model.hidden, model.feed_forward, shape.join, shape.interaction, shape.keep, shape.exits[-1]
        )

    def each(self, work: Callable[[Ints], None], batches: Iterator[Ints]) -> None:
        for batch in batches:
            work(batch)

    def question(self, ids: Ints, mask: Bools) -> Floats:
        with torch.inference_mode():
            return array(self.model.encode_question(self._tensor(ids), self._tensor(mask)))

    def document(self, ids: Ints, mask: Bools) -> Floats:
        with torch.inference_mode():
            return array(self.model.encode_document(self._tensor(ids), self._tensor(mask)))

    def joint(self, exit: int, states: Array, lengths: Ints, second: Ints) -> tuple[Floats, Array | None]:
        below = max(before for before in (self.join, *self.exits) if before < exit) - self.join
        mask = np.arange(states.shape[1]) < lengths[:, None]
        with torch.inference_mode():
            inputs = self._tensor(states), self._tensor(mask), self._tensor(second)
            after, features = self.model.interaction(*inputs, below, exit - self.join)
            logits = self.model.score((features,), exit)
            return array(logits[:, 1] - logits[:, 0]), None if exit == self.exits[-1] else array(after)

    def _tensor(self, value: Array | Ints | Bools) -> Tensor:
        return torch.from_numpy(value).to(self.model.meet.types.device)


def meeting_of(model: DecoupledRanker) -> Meeting:
    with torch.no_grad():
        positions, types, split = model.meet.positions, model.meet.types, model.shape.question_length
        cosine = (1.0, 0.0)
        if model.cosine is not None:
            cosine = float(model.cosine.log_scale.exp()), float(model.cosine.shift)
        return Meeting(
            question=array(positions[:split] + types[0]),
            document=array(positions[split:] + types[1]),
            up=(array(model.up.weight.T), array(model.up.bias)) if model.shape.keep else None,
            cosine=cosine,
        )


def torch_parts(folder: Path) -> TorchParts:
    """A trained ranker's folder, on the GPU if there is one."""
    model = load(folder).to("cuda" if torch.cuda.is_available() else "cpu")
    return TorchParts(model, tokenizer_of(model, folder), str(read_shape(folder).get("fingerprint")))


def tokenizer_of(model: DecoupledRanker, folder: Path) -> SideTokenizer:
    """The tokenizer in `folder`, with the model's lengths."""
    shape = model.shape
    lengths = {"question_length": shape.question_length, "max_length": shape.max_length}
    return SideTokenizer.load(folder, **lengths, pad_id=model.pad_id)


def array(tensor: Tensor) -> Floats:
    return tensor.cpu().numpy()
