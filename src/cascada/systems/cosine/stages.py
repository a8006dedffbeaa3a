"""Rankers without training: an encoder's states of question and candidate, compared by cosine or late interaction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from cascada.core.folder import reading
from cascada.encoders.encoder import TOKEN_BUDGET, StagedEncoder, load_encoder
from cascada.encoders.late_interaction import best_matches, unit
from cascada.ranking.arrays import shortest_first
from cascada.ranking.executor import rows_of
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.text.pair_arrays import EncodedPairs
from cascada.text.pairs import PairTokenizer
from cascada.text.sentence_windows import PieceLimit

Similarity = Literal["cosine", "late"]

Prompts = tuple[str, str]
"""The prefix of a question and that of a text."""


class SimilarityStage:
    """Scores pairs by the cosine of the mean token states of question and candidate, or by late interaction."""

    exit = 0
    layers = 0

    def __init__(
        self, encoder: StagedEncoder, tokenizer: PairTokenizer, similarity: Similarity, prompts: Prompts = ("", "")
    ) -> None:
        self.encoder = encoder.eval()
        self.prompts = prompts
        self.tokenizer = tokenizer
        self.limit = PieceLimit(tokenizer, beside_question=False)
        self.similarity = similarity

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        before_question, before_text = self.prompts
        asked = self.tokenizer.encode_alone([before_question + question for question in pairs.questions])
        questions = self.encode(asked, deadline)
        encoded = self.tokenizer.encode_alone([before_text + text for text in pairs.texts])
        texts = self.encode(encoded, deadline)
        first: dict[str, int] = {}  # of equal texts, the first one's encoding counts: equal texts score the same
        texts = [texts[first.setdefault(text, row)] for row, text in enumerate(pairs.texts)]
        scores = np.zeros(len(pairs), np.float32)
        for question, rows in zip(questions, rows_of(pairs.owner, len(questions)), strict=True):
            own = [texts[row] for row in rows]
            if self.similarity == "late":
                scores[rows] = best_matches(question, own)
            else:
                scores[rows] = (unit(np.stack([states.mean(0) for states in own])) * unit(question.mean(0))).sum(1)
        return Scored(scores, truncated=encoded.truncated)

    def flops(self, tokens: Ints) -> Ints:
        """Zero: candidates may be encoded long before they are ranked."""
        return np.zeros_like(tokens)

    def probability(self, scores: Floats) -> Floats:
        """(1 + cosine) / 2: a number between 0 and 1 in score order, not the probability of being correct."""
        return ((1 + np.clip(scores, -1, 1)) / 2).astype(np.float32)

    def encode(self, encoded: EncodedPairs, deadline: Deadline) -> list[Floats]:
        """The token states of each text, (tokens, hidden)."""
        encodings: list[Floats] = [np.empty((0, 0), np.float32)] * len(encoded)
        with torch.inference_mode():
            for rows in shortest_first(encoded.lengths, TOKEN_BUDGET):
                deadline.check()
                ids, mask, types = map(torch.from_numpy, encoded.padded(rows, self.tokenizer.pad_id))
                states = self.encoder.run(self.encoder.embed(ids, types), mask, 0, self.encoder.depth)
                outputs = self.encoder.output(states).float().numpy()  # under autocast, some encoders' are bfloat16
                for row, own, length in zip(rows, outputs, encoded.lengths[rows], strict=True):
                    encodings[row] = own[:length]
        return encodings


def similarity_ranker(folder: Path, similarity: Similarity) -> Ranker:
    """Make a ranker of the encoder in a folder in the hub's layout."""
    encoder = load_encoder(str(folder))
    tokenizer = PairTokenizer.load(folder, max_length=min(256, encoder.longest), pad_id=encoder.pad_id)
    return Ranker([SimilarityStage(encoder, tokenizer, similarity, prompts_of(folder))])


def prompts_of(folder: Path) -> Prompts:
    """The prefixes that the encoder was trained with, from its sentence-transformers config."""
    file = folder / "config_sentence_transformers.json"
    if not file.exists():
        return "", ""
    with reading(file):
        prompts = dict(json.loads(file.read_text(encoding="utf-8")).get("prompts") or {})
        text = prompts.get("document") or prompts.get("passage") or ""
        return str(prompts.get("query") or ""), str(text)
