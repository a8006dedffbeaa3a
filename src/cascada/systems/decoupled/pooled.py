"""One vector for each text, by which many texts are searched at once: the mean of its token encodings.

Late interaction, which reads every token, then ranks what this search finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cascada.encoders.late_interaction import unit
from cascada.ranking.stage import NO_DEADLINE, Floats
from cascada.systems.decoupled.documents import encode_side
from cascada.systems.decoupled.engine_protocol import DecoupledEngine
from cascada.systems.decoupled.join import Array


def question_vector(engine: DecoupledEngine, question: str) -> Floats:
    """The unit vector of a question, (hidden,)."""
    tokens = engine.tokenizer.question.encode_alone([question])
    (states,) = encode_side(engine, tokens, NO_DEADLINE, document=False)
    return _unit_mean([states])


def document_vector(engine: DecoupledEngine, sentences: Sequence[Array]) -> Floats:
    """The unit vector, (hidden,), of a text whose sentences have these encodings, (tokens, width) each.

    A text without sentences has the zero vector, which is similar to nothing.
    """
    if not sentences:
        return np.zeros(engine.join_weights.question.shape[1], np.float32)
    return _unit_mean([engine.join_weights.project_up(encoding) for encoding in sentences])


def _unit_mean(encodings: Sequence[Floats]) -> Floats:
    mean: Floats = unit(np.concatenate(encodings).mean(0))
    return mean
