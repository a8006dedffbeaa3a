"""The exit at the join: how alike the two sides' mean encodings are."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder, mean_of_tokens
from cascada.systems.decoupled.interaction import INTERACTIONS, LayerInteraction
from cascada.systems.decoupled.shape import DecoupledShape

LOG_SCALE, SHIFT = "cosine.log_scale", "cosine.shift"
"""The two weights' names in a ranker: single numbers, which have far to go and learn faster than the rest."""


class CosineExit(nn.Module):
    """scale · cosine + shift as the score, both trained: the same order as the cosine's, and a probability."""

    def __init__(self) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(2.3))  # the logarithm, since a scale below 0 would turn the order
        self.shift = nn.Parameter(torch.tensor(-5.0))

    def forward(self, question: Tensor, document: Tensor) -> Tensor:
        """Logits (pairs, 2) of mean encodings (pairs, hidden)."""
        score = self.log_scale.exp() * cosine_similarity(question, document, dim=-1) + self.shift
        return torch.stack((torch.zeros_like(score), score), -1)


class GlobalEmbeddings(nn.Module):
    """Trained positions and types. A document's positions start at a fixed place, so that they do not depend on the
    question; no norm follows the sum."""

    def __init__(self, positions: Tensor, types: Tensor, question_length: int) -> None:
        """`positions` is (question_length + document's, hidden), `types` (2, hidden)."""
        super().__init__()
        self.positions = nn.Parameter(positions)
        self.types = nn.Parameter(types)
        self.question_length = question_length

    @classmethod
    def of(cls, encoder: StagedEncoder, question_length: int, max_length: int) -> GlobalEmbeddings:
        """Starting from the encoder's own; where it has no second type, both sides start alike."""
        own: Any = encoder.encoder.embeddings
        first = encoder.first_position
        positions = own.position_embeddings.weight[first : first + question_length + max_length]
        types = getattr(own, "token_type_embeddings", None)
        types = positions.new_zeros(2, positions.shape[1]) if types is None else types.weight[[0, -1]]
        project = getattr(encoder.encoder, "embeddings_project", None)  # ELECTRA's small models
        positions, types = (table if project is None else table @ project.weight.T for table in (positions, types))
        return cls(positions.detach().clone(), types.detach().clone(), question_length)

    def question(self, states: Tensor) -> Tensor:
        """(questions, tokens, hidden)."""
        return states + self.positions[: states.shape[1]] + self.types[0]

    def document(self, states: Tensor) -> Tensor:
        """(documents, tokens, hidden)."""
        start = self.question_length
        return states + self.positions[start : start + states.shape[1]] + self.types[1]


class DecoupledRanker(nn.Module):
    """Scores pairs of question and document that were encoded apart."""

    def __init__(self, encoder: StagedEncoder, shape: DecoupledShape) -> None:
        """Towers and interaction layers start as the encoder's own; of those above the join, its last ones.

        With join 6, a twelve-layer encoder and a last exit at 12, these are its layers 7 to 12; with DC-BERT's join at
        12 and an exit at 13, a copy of its layer 12.
        """
        super().__init__()
        check(encoder, shape)
        self.shape = shape
        self.hidden = encoder.hidden_size
        self.feed_forward = encoder.feed_forward_size
        self.config = encoder.config
        self.document = tower(encoder, shape.join)
        self.question = copy.deepcopy(self.document) if shape.towers == "two" else None
        self.meet = GlobalEmbeddings.of(encoder, shape.question_length, shape.max_length)
        if shape.keep:
            self.down, self.up = projections(self.hidden, shape.keep)
        self.interaction = interaction(encoder, shape)
        self.cosine = CosineExit() if shape.cosine else None
        self.classifiers = nn.ModuleDict(
            {str(exit): classifier(self.hidden, shape.dropout, silent=shape.onto_cosine) for exit in shape.joint_exits}
        )

    @property
    def pad_id(self) -> int:
        return self.document.pad_id

    def encode_question(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(questions, tokens) to (questions, tokens, hidden)."""
        return encode(self.document if self.question is None else self.question, ids, mask)

    def encode_document(self, ids: Tensor, mask: Tensor) -> Tensor:
        """What is cached: (documents, tokens) to (documents, tokens, hidden), or `keep` numbers for each token."""
        states = encode(self.document, ids, mask)
        return self.down(states) if self.shape.keep else states

    def widen(self, kept: Tensor) -> Tensor:
        """What was cached, in all dimensions again."""
        return self.up(kept) if self.shape.keep else kept

    def forward(
        self,
        question: Tensor,
        question_mask: Tensor,
        text: Tensor,
        text_mask: Tensor,
        asked: Tensor,
        told: Tensor | None = None,
        exits: Sequence[int] = (),
        *,
        apart: bool = False,
        teacher: bool = False,
    ) -> dict[int, Tensor]:
        """Logits (pairs, 2) at each of `exits` (the last one if none is named), the whole model in one piece.

        `question` has the ids of the questions (questions, n), `text` those of the documents (documents, m), or what a
        store has of them (documents, m, width). `asked` (pairs,) says which question is whose and `told` (pairs,) which
        document; without it each pair has a document of its own. `apart` stops an exit's gradient at the exit before
        it, `teacher` adds the last exit's logits without gradient. Layers above the last exit asked for are not run.
        """
        wanted = set(exits or self.shape.exits[-1:])
        highest = self.shape.exits[-1] if teacher else max(wanted)
        gradient, join = torch.is_grad_enabled(), self.shape.join
        with torch.set_grad_enabled(gradient and (not apart or self.shape.exits[0] in wanted)):
            asking = self.encode_question(question, question_mask)
            telling = self.widen(text if text.is_floating_point() else self.encode_document(text, text_mask))
            told = torch.arange(len(text), device=text.device) if told is None else told
            states, mask, second = self._side_by_side(asking, question_mask, telling, text_mask, asked, told)
        logits: dict[int, Tensor] = {}
        base: Tensor | float = 0.0
        done = join
        for exit in (exit for exit in self.shape.exits if exit <= highest):
            used = exit in wanted if apart else exit <= max(wanted)  # does a loss need this part's gradient?
            with torch.set_grad_enabled(gradient and used):
                features: tuple[Tensor, ...]
                if exit == join:
                    features = mean_of_tokens(asking, question_mask)[asked], mean_of_tokens(telling, text_mask)[told]
                else:
                    states, found = self.interaction(states, mask, second, done - join, exit - join)
                    features = (found,)
                if exit in wanted or (teacher and exit == highest):
                    logits[exit] = self.score(features, exit) + base
                if exit == join and self.shape.onto_cosine:
                    base = self.score(features, exit)
                    base = base.detach() if apart else base
            states, done = states.detach() if apart else states, exit
        return logits

    def score(self, features: Sequence[Tensor], exit: int) -> Tensor:
        """Logits (pairs, 2) of a pair's features, without the cosine's that they may be added to; at the join, of both
        sides' mean encodings."""
        head = self.cosine if exit == self.shape.join else self.classifiers[str(exit)]
        return head(*features)  # type: ignore[misc, no-any-return]

    def _side_by_side(
        self, asking: Tensor, question_mask: Tensor, telling: Tensor, text_mask: Tensor, asked: Tensor, told: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Each pair's tokens (pairs, n + m, hidden) with global positions and types, their mask, and the place of the
        documents' first token."""
        states = torch.cat((self.meet.question(asking)[asked], self.meet.document(telling)[told]), 1)
        mask = torch.cat((question_mask[asked], text_mask[told]), 1)
        return states, mask, torch.full_like(asked, question_mask.shape[1])


def check(encoder: StagedEncoder, shape: DecoupledShape) -> None:
    if encoder.config.model_type == "mpnet":
        raise CascadaError("MPNet's relative positions cannot be cached: a decoupled ranker needs another encoder.")
    if shape.join > encoder.depth:
        raise CascadaError(f"join is {shape.join}, but the encoder has {encoder.depth} layers.")
    if shape.interaction == "layers" and shape.joint_layers > encoder.depth:
        raise CascadaError(
            f"There are {shape.joint_layers} layers above the join, but the encoder has {encoder.depth}."
        )
    if shape.question_length + shape.max_length > encoder.longest:
        raise CascadaError(
            f"question_length and max_length are {shape.question_length} and {shape.max_length}, "
            f"but the encoder has {encoder.longest} positions for both."
        )


def tower(encoder: StagedEncoder, join: int) -> StagedEncoder:
    """A copy of the encoder's embeddings and first layers."""
    own = copy.deepcopy(encoder)
    del own.layers[join:]
    return own


def interaction(encoder: StagedEncoder, shape: DecoupledShape) -> nn.Module:
    make = INTERACTIONS[shape.interaction]
    if make:
        return make(encoder.hidden_size, shape.joint_layers)
    first = min(shape.join, encoder.depth - shape.joint_layers)
    return LayerInteraction(copy.deepcopy(encoder.layers[first : first + shape.joint_layers]), encoder.config)


def projections(hidden: int, keep: int) -> tuple[nn.Linear, nn.Linear]:
    """Down and up again: at first, what lies in a random plane of so many dimensions comes back as it was."""
    if keep >= hidden:
        raise CascadaError(f"keep is {keep}, but a token has {hidden} dimensions: fewer are to be kept.")
    down, up = nn.Linear(hidden, keep), nn.Linear(keep, hidden)
    nn.init.orthogonal_(down.weight)
    with torch.no_grad():
        up.weight.copy_(down.weight.T)
        down.bias.zero_()
        up.bias.zero_()
    return down, up


def classifier(hidden: int, dropout: float, *, silent: bool) -> nn.Module:
    """The paper's: a perceptron of two layers with tanh on both sides' features. A silent one has nothing to say at
    first."""
    inner, last = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, 2)
    if silent:
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Dropout(dropout), inner, nn.Tanh(), nn.Dropout(dropout), last)


def encode(side: StagedEncoder, ids: Tensor, mask: Tensor) -> Tensor:
    return side.run(side.embed(ids, torch.zeros_like(ids)), mask, 0, side.depth)
