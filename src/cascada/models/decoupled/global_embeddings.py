"""What is added to the encodings where question and document meet: where a token stands, and on which side."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from cascada.models.encoder import StagedEncoder


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
