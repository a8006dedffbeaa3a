"""The torch engine of decoupled rankers: the parts of the network as they were trained. For research and GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cascada.core.folder import read_shape
from cascada.encoders.encoder import TOKEN_BUDGET
from cascada.ranking.stage import Bools, Floats, Ints
from cascada.systems.decoupled.cost import DecoupledFlops
from cascada.systems.decoupled.folder import load
from cascada.systems.decoupled.join import Array, JoinWeights
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.towers import encode_layers
from cascada.text.sides import SideTokenizer


class TorchEngine:
    """The parts of a network in memory."""

    budget = TOKEN_BUDGET

    def __init__(
        self, model: DecoupledRanker, tokenizer: SideTokenizer, fingerprint: str = "", *, bfloat16: bool = False
    ) -> None:
        """`model` should be in evaluation mode. Its weights at the join are copied now; later changes are not seen.

        `bfloat16` computes the products of documents' encodings in 16 bits.
        """
        self.bfloat16 = bfloat16
        if bfloat16:
            self.budget = 4 * TOKEN_BUDGET  # every batch rounds the weights anew
        self.model = model
        self.shape = model.shape
        self.tokenizer = tokenizer
        self.fingerprint = fingerprint
        self.width = model.shape.keep or model.hidden
        self.join_weights = join_weights_of(model)
        self.exit_zero = None if model.exit_zero is None else model.exit_zero.vectors(model.document)
        self.flop_counts = DecoupledFlops(
            model.shape, model.hidden, model.feed_forward, int(model.config.num_attention_heads)
        )

    def run_batches(self, work: Callable[[Ints], None], batches: Iterator[Ints]) -> None:
        for batch in batches:
            work(batch)

    def question(self, ids: Ints, mask: Bools) -> list[Floats]:
        layers = [last for _, last in self.shape.tower_parts]
        with torch.inference_mode():
            states = encode_layers(self.model.question_tower, self._tensor(ids), self._tensor(mask), layers)
            return [array(after) for after in states]

    def document(self, inputs: Ints | Floats, mask: Bools, part: int) -> Floats:
        half = torch.autocast(self.model.meet.types.device.type, torch.bfloat16) if self.bfloat16 else nullcontext()
        first, last = self.shape.tower_parts[part]
        tower, states = self.model.document, self._tensor(inputs)
        with torch.inference_mode(), half:
            states = states if first else tower.embed(states, torch.zeros_like(states))
            states = tower.output(tower.run(states, self._tensor(mask), first, last))
            return array(self.model.project_down(states) if last == self.shape.join else states)

    def read_side(self, states: Array, lengths: Ints, *, document: bool) -> Floats:
        read = self.model.interaction.document if document else self.model.interaction.question
        mask = np.arange(states.shape[1]) < lengths[:, None]
        with torch.inference_mode():
            return array(read(self._tensor(states), self._tensor(mask)))  # type: ignore[operator]

    def joint(self, exit: int, states: Array, lengths: Ints, second: Ints) -> tuple[Floats, Array | None]:
        join, exits = self.shape.join, self.shape.exits
        below = max(before for before in (join, *exits) if before < exit) - join
        mask = np.arange(states.shape[1]) < lengths[:, None]
        with torch.inference_mode():
            if self.shape.interaction == "lstm":
                after = self._tensor(states)
                features = after.flatten(1)
            else:
                inputs = self._tensor(states), self._tensor(mask), self._tensor(second)
                after, features = self.model.interaction(*inputs, below, exit - join)
            logits = self.model.score((features,), exit)
            scores = array(logits[:, 1] - logits[:, 0])
            return scores, None if after is None or exit == exits[-1] else array(after)

    def _tensor(self, value: Array | Bools) -> Tensor:
        return torch.from_numpy(value).to(self.model.meet.types.device)


def join_weights_of(model: DecoupledRanker) -> JoinWeights:
    """The weights at the join of a network in memory."""
    with torch.no_grad():
        positions, types, split = model.meet.positions, model.meet.types, model.meet.question_length
        return JoinWeights(
            question=array(positions[:split] + types[0]),
            document=array(positions[split:] + types[1]),
            up=(array(model.up.weight.T), array(model.up.bias)) if model.shape.keep else None,
            scaling={exit: head.scaling for exit, head in model.comparing.items()},
            cosine=sum(model.cosine.others) if model.cosine else 0.0,
        )


def torch_engine(folder: Path, *, bfloat16: bool = False) -> TorchEngine:
    """Load the folder of a trained ranker, onto the GPU if there is one."""
    model = load(folder).to("cuda" if torch.cuda.is_available() else "cpu")
    fingerprint = str(read_shape(folder).get("fingerprint"))
    return TorchEngine(model, tokenizer_of(model, folder), fingerprint, bfloat16=bfloat16)


def tokenizer_of(model: DecoupledRanker, folder: Path) -> SideTokenizer:
    """The tokenizer in `folder`, with the model's maximum lengths and prompts."""
    return SideTokenizer.load(folder, **model.shape.lengths, pad_id=model.pad_id)


def array(tensor: Tensor) -> Floats:
    """The tensor as a numpy array."""
    return tensor.float().cpu().numpy()
