"""The join in torch: similarities of both sides, their exit, and the global embeddings for the interaction above."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, normalize

from cascada.encoders.encoder import StagedEncoder, mean_of_tokens
from cascada.systems.decoupled.interaction import Side

START_DEVIATION = 2.0
"""The standard deviation of the scores of a question's documents when training starts."""


class JoinExit(nn.Module):
    """An exit at or below the join: scale · similarity + shift. The trained scale and shift keep the order of the
    similarities and make the score a probability."""

    def __init__(self, similarities: int = 1) -> None:
        """`similarities`: the number of similarities of a pair, whose weighted sum counts."""
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(2.3))  # a logarithm, because a negative scale would invert the order
        self.shift = nn.Parameter(torch.tensor(-5.0))
        self.weights = nn.Parameter(torch.ones(similarities)) if similarities > 1 else None

    @property
    def scaling(self) -> tuple[float, float]:
        """Scale and shift of the first similarity, to which others may be added; see `others`."""
        first = 1.0 if self.weights is None else float(self.weights[0])
        return float(self.log_scale.exp()) * first, float(self.shift)

    @property
    def others(self) -> list[float]:
        """The weights of the other similarities, where the first one's is 1."""
        return [] if self.weights is None else (self.weights[1:] / self.weights[0]).tolist()

    @torch.no_grad()
    def rescale(self, scale: float, shift: float) -> None:
        """Scale and shift the scores."""
        self.log_scale.add_(math.log(scale))
        self.shift.mul_(scale).add_(shift)

    @torch.no_grad()
    def start(self, lists: Sequence[Tensor]) -> None:
        """Start from the similarities of some questions' documents, for each question (pairs,), or (pairs, n).

        Several similarities are weighted to have the same standard deviation. That of an encoder's similarities is .01
        to .1 among a question's documents. With scores as close as that, the towers would learn to spread the
        similarities before they learn to order the documents.
        """
        if self.weights is not None:
            deviations = torch.stack([own.std(0, correction=0) for own in lists]).mean(0).clamp(min=1e-6)
            self.weights.copy_(deviations[0] / deviations)
        lists = [self.similarity(own) for own in lists]
        deviation = float(torch.stack([own.std(correction=0) for own in lists]).mean())
        scale = START_DEVIATION / max(deviation, 1e-6)
        self.log_scale.fill_(math.log(scale))
        self.shift.fill_(-scale * (float(torch.cat(lists).mean()) + deviation))

    def similarity(self, similarities: Tensor) -> Tensor:
        """The similarity (pairs,) that counts, of similarities (pairs,) or (pairs, n)."""
        return similarities if self.weights is None else similarities @ self.weights

    def forward(self, similarities: Tensor) -> Tensor:
        """Logits (pairs, 2) of similarities (pairs,) or (pairs, n)."""
        score = self.log_scale.exp() * self.similarity(similarities) + self.shift
        return torch.stack((torch.zeros_like(score), score), -1)


class GlobalEmbeddings(nn.Module):
    """Positions and types that are added at the join. Documents' positions start at `question_length`, so that they do
    not depend on the question. No layer norm follows."""

    def __init__(self, positions: Tensor, types: Tensor, question_length: int) -> None:
        """`positions` are (question_length + max_length, hidden), `types` (2, hidden)."""
        super().__init__()
        self.positions = nn.Parameter(positions)
        self.types = nn.Parameter(types)
        self.question_length = question_length

    @classmethod
    def of(cls, encoder: StagedEncoder, question_length: int, max_length: int) -> GlobalEmbeddings:
        """Start from the encoder's embeddings; if it has a single type, both sides start with that one."""
        own: Any = encoder.encoder.embeddings
        table = encoder.position_embeddings
        if table is None:  # an encoder with relative positions only: the sides begin without
            table = encoder.word_embeddings.new_zeros(encoder.longest, encoder.hidden_size)
        positions = table[: question_length + max_length]
        types = getattr(own, "token_type_embeddings", None)
        types = positions.new_zeros(2, positions.shape[1]) if types is None else types.weight[[0, -1]]
        project = encoder.family.project
        positions, types = (table if project is None else table @ project.weight.T for table in (positions, types))
        return cls(positions.detach().clone(), types.detach().clone(), question_length)

    def question(self, states: Tensor) -> Tensor:
        """(questions, tokens, hidden)."""
        return states + self.positions[: states.shape[1]] + self.types[0]

    def document(self, states: Tensor) -> Tensor:
        """(documents, tokens, hidden)."""
        start = self.question_length
        return states + self.positions[start : start + states.shape[1]] + self.types[1]


def mean_cosine(question: Side, document: Side) -> Tensor:
    """The cosine of the mean encodings of each pair, (pairs,)."""
    first, second = (mean_of_tokens(states, mask)[rows] for states, mask, rows in (question, document))
    return cosine_similarity(first, second, dim=-1)


def late_interaction(question: Side, document: Side) -> Tensor:
    """The mean, over a question's own tokens, of the best cosine with any token of the document, (pairs,)."""
    questions, question_mask, question_of = question
    documents, document_mask, document_of = document
    with torch.autocast(questions.device.type, enabled=False):  # bfloat16 would round cosines to two or three digits
        first, second = (normalize(states.float(), dim=-1) for states in (questions, documents))
        if 2 * len(question_of) > len(first) * len(second):  # most pairs of a batch: one product of all tokens
            product = first.flatten(0, 1) @ second.flatten(0, 1).T
            every = product.view(*first.shape[:2], *second.shape[:2]).transpose(1, 2)
            cosines = every[question_of, document_of]  # (pairs, question tokens, document tokens)
        else:
            cosines = first[question_of] @ second[document_of].mT
    best = cosines.masked_fill(~document_mask[document_of][:, None, :], -1.0).amax(-1)  # (pairs, question tokens)
    own = own_tokens(question_mask)[question_of]
    similarity: Tensor = (best * own).sum(-1) / own.sum(-1)
    return similarity


def own_states(states: Tensor, mask: Tensor, context: Tensor | None) -> tuple[Tensor, Tensor]:
    """States (documents, tokens, hidden) and mask without the `context` (documents,) tokens after each first one."""
    if context is None:
        return states, mask
    position = torch.arange(mask.shape[1], device=mask.device)
    source = position + context[:, None] * (position > 0)
    kept = position < (mask.sum(-1) - context)[:, None]
    source = source.clamp(max=mask.shape[1] - 1)[..., None].expand(-1, -1, states.shape[-1])
    return states.gather(1, source), kept


def own_tokens(mask: Tensor) -> Tensor:
    """A mask (questions, tokens) without the special tokens at either end; of a text with nothing else, all of it."""
    lengths = mask.sum(-1, keepdim=True)
    position = torch.arange(mask.shape[1], device=mask.device)
    inner = (position > 0) & (position < lengths - 1)
    return torch.where(lengths > 2, inner, mask)


def both(question: Side, document: Side) -> Tensor:
    """Late interaction and the cosine of mean encodings of each pair, (pairs, 2)."""
    return torch.stack((late_interaction(question, document), mean_cosine(question, document)), -1)


SIMILARITIES = {"cosine": mean_cosine, "late": late_interaction, "both": both}
