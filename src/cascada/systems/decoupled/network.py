"""The decoupled ranker: two towers, global embeddings at the join, an interaction above it, and a head at each exit."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder
from cascada.encoders.exit_zero import ExitZeroWeights
from cascada.systems.decoupled.interaction import INTERACTIONS, LayerInteraction, LSTMInteraction, Side
from cascada.systems.decoupled.meeting import (
    SIMILARITIES,
    GlobalEmbeddings,
    JoinExit,
    late_interaction,
    own_states,
)
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.decoupled.towers import check, encode, encode_layers, tower


class DecoupledRanker(nn.Module):
    """Scores pairs of question and document, which are encoded separately up to the join."""

    def __init__(self, encoder: StagedEncoder, shape: DecoupledShape) -> None:
        """Start the towers from the encoder's first layers, and the interaction layers from its last ones.

        With a twelve-layer encoder, join 6 and a last exit at 12, the interaction layers start as its layers 7 to 12;
        with DC-BERT's join at 12 and an exit at 13, as a copy of its layer 12.
        """
        super().__init__()
        check(encoder, shape)
        self.shape = shape
        self.hidden = encoder.hidden_size
        self.feed_forward = encoder.feed_forward_size
        self.config = encoder.config
        self.document = tower(encoder, shape.join)
        self.question = copy.deepcopy(self.document) if shape.towers == "two" else None
        lengths = (shape.question_length, shape.max_length) if shape.joint_exits else (0, 0)  # nothing is joined
        self.meet = GlobalEmbeddings.of(encoder, *lengths)  # saved weights have this name
        if shape.keep:
            self.down, self.up = projections(self.hidden, shape.keep)
        self.interaction = interaction(encoder, shape)
        similarities = 2 if shape.match == "both" else 1
        self.cosine = JoinExit(similarities) if shape.exit_at_join else None  # saved weights have this name
        self.below = nn.ModuleDict({str(exit): JoinExit() for exit in shape.tower_exits})
        self.exit_zero = ExitZeroWeights(self.document) if shape.exit_zero else None
        zero = shape.adds_to_cosine
        self.classifiers = nn.ModuleDict(
            {str(exit): classifier(self.hidden, shape.dropout, zero=zero) for exit in shape.joint_exits}
        )

    @property
    def pad_id(self) -> int:
        return self.document.pad_id

    @property
    def question_tower(self) -> StagedEncoder:
        return self.document if self.question is None else self.question

    def encode_question(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(questions, tokens) to (questions, tokens, hidden)."""
        return encode(self.question_tower, ids, mask)

    def encode_document(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The encodings that are cached: (documents, tokens) to (documents, tokens, `keep` or hidden)."""
        return self.project_down(encode(self.document, ids, mask))

    def project_down(self, states: Tensor) -> Tensor:
        """From all to the cached dimensions, (documents, tokens, `keep` or hidden)."""
        return self.down(states) if self.shape.keep else states

    @torch.no_grad()
    def start_projection(self, states: Tensor) -> None:
        """Start the projection to `keep` dimensions as the principal directions of examples of documents' states.

        `states` are (tokens, hidden), before the projection.
        """
        centre = states.mean(0)
        _, directions = torch.linalg.eigh(torch.cov((states - centre).T.double()))  # in ascending order of variance
        down = directions[:, -self.down.out_features :].T.to(centre.dtype)
        self.down.weight.copy_(down)
        self.down.bias.copy_(-down @ centre)
        self.up.weight.copy_(down.T)
        self.up.bias.copy_(centre)

    def project_up(self, cached: Tensor) -> Tensor:
        """From the cached to all dimensions, (documents, tokens, hidden)."""
        return self.up(cached) if self.shape.keep else cached

    def forward(
        self,
        question: Tensor,
        question_mask: Tensor,
        text: Tensor,
        text_mask: Tensor,
        question_of: Tensor,
        document_of: Tensor | None = None,
        exits: Sequence[int] = (),
        *,
        context: Tensor | None = None,
        stop_gradient: bool = False,
        teacher: bool = False,
    ) -> dict[int, Tensor]:
        """Logits (pairs, 2) at each of `exits` (by default the last one), computed by the whole model at once.

        `question` are the ids of the questions (questions, n); `text` are the ids of the documents (documents, m), or
        their stored encodings (documents, m, width). `question_of` and `document_of` (pairs,) are the rows of each
        pair; by default each pair has its own document. `context` (documents,) counts the tokens of each context, which
        is read with the document and not compared. `stop_gradient` stops the gradient of an exit's loss at the
        exit before. `teacher` adds the logits of the last exit, without gradient. Layers above the highest exit that is
        needed are not run.
        """
        wanted = set(exits or self.shape.exits[-1:])
        highest = self.shape.exits[-1] if teacher else max(wanted)
        gradient, join = torch.is_grad_enabled(), self.shape.join
        stored = text.is_floating_point()
        layers = [] if stored else [exit for exit in self.shape.tower_exits if exit <= highest]
        layers += [join] if highest >= join else []
        document_of = torch.arange(len(text), device=text.device) if document_of is None else document_of
        encode = partial(encode_layers, layers=layers, detach=stop_gradient)
        above = [exit for exit in self.shape.layer_exits if exit >= join]
        with torch.set_grad_enabled(gradient and (not stop_gradient or min(wanted) <= above[0])):
            questions = encode(self.question_tower, question, question_mask)
            documents = [text] if stored else encode(self.document, text, text_mask)
        logits: dict[int, Tensor] = {}
        for exit, question_states, states in zip(layers, questions, documents, strict=True):
            if exit in wanted and exit < join:
                asked = question_states, question_mask, question_of
                similarity = late_interaction(asked, (*own_states(states, text_mask, context), document_of))
                logits[exit] = self.score((similarity,), exit)
        if highest < join:
            return logits
        cached = documents[-1] if stored else self.project_down(documents[-1])
        states, mask = own_states(self.project_up(cached), text_mask, context)
        sides = (questions[-1], question_mask, question_of), (states, mask, document_of)
        passed = [exit for exit in above if exit <= highest]
        return logits | self._from_join(sides, passed, wanted, stop_gradient=stop_gradient, teacher=teacher)

    def _from_join(
        self, sides: tuple[Side, Side], exits: Sequence[int], wanted: set[int], *, stop_gradient: bool, teacher: bool
    ) -> dict[int, Tensor]:
        """The logits of the `wanted` exits at the join and above it; `exits` are those up to the highest needed."""
        gradient, join = torch.is_grad_enabled(), self.shape.join
        pairs: Any = self._pairs_input(*sides) if exits[-1] > join else (sides[0][0],)
        logits: dict[int, Tensor] = {}
        base: Tensor | float = 0.0
        done = join
        for exit in exits:
            used = exit in wanted if stop_gradient else exit <= max(wanted)  # does a loss need this part's gradient?
            with torch.set_grad_enabled(gradient and used):
                features: tuple[Tensor, ...]
                if exit == join:
                    features = (SIMILARITIES[self.shape.match](*sides),)
                else:
                    pairs, features = self._interact(pairs, done - join, exit - join)
                if exit in wanted or (teacher and exit == exits[-1]):
                    logits[exit] = self.score(features, exit) + base
                if exit == join and self.shape.adds_to_cosine:
                    base = self.score(features, exit)
                    base = base.detach() if stop_gradient else base
            pairs, done = tuple(detached(part) for part in pairs) if stop_gradient else pairs, exit
        return logits

    def score(self, features: Sequence[Tensor], exit: int) -> Tensor:
        """Logits (pairs, 2) at an exit, without the cosine's logits that they may be added to.

        `features` are those of the interaction; at the join and below it, the similarities of the two sides.
        """
        head = self.comparing[exit] if exit <= self.shape.join else self.classifiers[str(exit)]
        return head(*features)  # type: ignore[no-any-return]

    @property
    def comparing(self) -> dict[int, JoinExit]:
        """The exits that compare the two sides: those of the towers, and the one at the join."""
        at_join = {} if self.cosine is None else {self.shape.join: self.cosine}
        return {int(exit): cast(JoinExit, head) for exit, head in self.below.items()} | at_join

    def rescale(self, exit: int, scale: float, shift: float) -> None:
        """Scale and shift the raw scores of an exit: the second logit minus the first."""
        if exit > self.shape.join and self.shape.adds_to_cosine:
            raise CascadaError("Scores that are added to those at the join cannot be calibrated by themselves.")
        with torch.no_grad():
            if exit == 0:
                assert self.exit_zero is not None
                self.exit_zero.rescale(scale, shift)
            elif exit <= self.shape.join:
                self.comparing[exit].rescale(scale, shift)
            else:
                out: Any = self.classifiers[str(exit)][-1]  # type: ignore[index]
                out.weight *= scale
                out.bias *= scale
                out.bias[1] += shift

    def _pairs_input(self, question: Side, document: Side) -> tuple[Any, ...]:
        """The input of the interaction, with global positions and types: of an LSTM the two sides; of others the states
        of each pair (pairs, n + m, hidden), their mask, and the position (pairs,) of the document's first token."""
        questions, question_mask, question_of = question
        documents, document_mask, document_of = document
        questions, documents = self.meet.question(questions), self.meet.document(documents)
        if isinstance(self.interaction, LSTMInteraction):
            return (questions, *question[1:]), (documents, *document[1:])
        states = torch.cat((questions[question_of], documents[document_of]), 1)
        mask = torch.cat((question_mask[question_of], document_mask[document_of]), 1)
        return states, mask, torch.full_like(question_of, question_mask.shape[1])

    def _interact(self, pairs: tuple[Any, ...], first: int, last: int) -> tuple[tuple[Any, ...], tuple[Tensor]]:
        """Run layers first+1 to last: the input of the layers above them, and the features."""
        if isinstance(self.interaction, LSTMInteraction):
            return pairs, (self.interaction(*pairs),)
        states, features = self.interaction(*pairs, first, last)
        return (states, *pairs[1:]), (features,)


def detached(part: Tensor | Side) -> Tensor | Side:
    """A tensor, or the tensors of a side, without their gradient."""
    return part.detach() if isinstance(part, Tensor) else (part[0].detach(), part[1], part[2])


def interaction(encoder: StagedEncoder, shape: DecoupledShape) -> nn.Module:
    """The interaction of a new ranker."""
    make = INTERACTIONS[shape.interaction]
    if make:
        return make(encoder.hidden_size, shape.joint_layers)
    first = min(shape.join, encoder.depth - shape.joint_layers)
    layers = map(copy.deepcopy, encoder.layers[first : first + shape.joint_layers])
    return LayerInteraction(nn.ModuleList(layers), encoder.config)


def projections(hidden: int, keep: int) -> tuple[nn.Linear, nn.Linear]:
    """The projections to `keep` dimensions and back, onto a random subspace; see `start_projection`."""
    if keep >= hidden:
        raise CascadaError(f"keep is {keep}, but it must be below {hidden}, the dimensions of a token.")
    down, up = nn.Linear(hidden, keep), nn.Linear(keep, hidden)
    nn.init.orthogonal_(down.weight)
    with torch.no_grad():
        up.weight.copy_(down.weight.T)
        down.bias.zero_()
        up.bias.zero_()
    return down, up


def classifier(hidden: int, dropout: float, *, zero: bool) -> nn.Module:
    """The paper's classifier: a two-layer perceptron with tanh on both features; `zero` starts its output at 0."""
    inner, last = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, 2)
    if zero:
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Dropout(dropout), inner, nn.Tanh(), nn.Dropout(dropout), last)
