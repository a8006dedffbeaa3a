"""sentence-transformers: a drop-in replacement for `CrossEncoder` that needs neither that library nor torch.

>>> model = CrossEncoder("bm25")
>>> model.rank("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."], top_k=1)[0]["corpus_id"]
1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from cascada.core.errors import CascadaError, require
from cascada.integrations.common import (
    OnRanking,
    Options,
    SupportsRank,
    checked,
    descending_scores,
    rank_groups,
    ranker_of,
)
from cascada.ranking import Ranking
from cascada.ranking.stage import Floats


class CrossEncoder:
    """Replaces a `sentence_transformers.CrossEncoder` with one label; scores are in [0, 1].

    `model` is what `Ranker.load` takes, or a ranker. Your own cross-encoder gives the scores that it gives in
    sentence-transformers: logits, if its activation function is the identity. With two outputs, the score is the
    probability of the second. Arguments of `predict` and `rank` that say how to compute (`batch_size`, `device`, …) are
    ignored: engines choose for themselves. Those that would change the scores (`prompt`, `activation_fn`, …) raise an
    error.
    """

    def __init__(
        self,
        model: str | Path | SupportsRank | None = None,
        *,
        on_ranking: OnRanking | None = None,
        num_labels: int | None = None,
        max_length: int | None = None,
        activation_fn: Callable[..., Any] | None = None,
        trust_remote_code: bool = False,
        device: Any = None,
        cache_folder: str | None = None,
        local_files_only: bool = False,
        backend: str = "torch",
        **options: Unpack[Options],
    ) -> None:
        """`options` are those of `Ranker.rank`. Long texts are cut, as in sentence-transformers, unless `long` is set.
        `min_score` and `cut` apply to `rank` only, as `predict` gives every pair a score. `prior` goes by the order of
        the pairs or documents. `on_ranking` is called with every `Ranking`, whose `likely` is False if nothing is
        likely to be an answer.

        `device`, `cache_folder`, `local_files_only` and `backend` are ignored."""
        _reject(max_length=max_length, activation_fn=activation_fn, trust_remote_code=trust_remote_code)
        if num_labels not in (None, 1):
            raise CascadaError(f"num_labels is {num_labels}; a ranker has one score.")
        self.ranker = ranker_of(model)
        self._raw = getattr(self.ranker, "activation", None) == "identity"
        self.options = checked({"long": "first", **options})
        self.on_ranking = on_ranking

    def predict(
        self,
        inputs: Any,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Callable[..., Any] | None = None,
        apply_softmax: bool | None = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Any = None,
        pool: Any = None,
        chunk_size: int | None = None,
    ) -> Any:
        """Score (question, text) pairs, in their order; a single pair gives a single score.

        Pairs with the same question are ranked together, wherever they are in the list. With drops, their scores sort
        as the ranking does.
        """
        _reject(prompt_name=prompt_name, prompt=prompt, activation_fn=activation_fn, apply_softmax=apply_softmax)
        pairs = [_pair(inputs)] if (single := _is_pair(inputs)) else [_pair(pair) for pair in inputs]
        scores = self._scores(pairs)
        if convert_to_tensor:
            scores = require("torch", "train", "convert_to_tensor").from_numpy(scores)
        elif not convert_to_numpy:
            return float(scores[0]) if single else scores.tolist()
        return scores[0] if single else scores

    def rank(
        self,
        query: str,
        documents: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Callable[..., Any] | None = None,
        device: Any = None,
        pool: Any = None,
        chunk_size: int | None = None,
    ) -> list[dict[str, Any]]:
        """The best documents: `corpus_id` (index in the list), `score` and, with `return_documents`, `text`."""
        _reject(prompt_name=prompt_name, prompt=prompt, activation_fn=activation_fn)
        if not documents:
            return []
        ranking = self.ranker.rank(query, documents, top=top_k, **self.options)
        self._report(ranking)
        return [
            {"corpus_id": item.index, "score": score} | ({"text": documents[item.index]} if return_documents else {})
            for item, score in zip(ranking, descending_scores(ranking, raw=self._raw), strict=True)
        ]

    def _report(self, ranking: Ranking) -> None:
        if self.on_ranking:
            self.on_ranking(ranking)

    def _scores(self, pairs: list[tuple[str, str]]) -> Floats:
        rows_of: dict[str, list[int]] = {}
        for row, (question, _) in enumerate(pairs):
            rows_of.setdefault(question, []).append(row)
        groups = [(question, [pairs[row][1] for row in rows]) for question, rows in rows_of.items()]
        scores = np.zeros(len(pairs), np.float32)
        options: Options = {**self.options, "min_score": None, "cut": None}
        for rows, ranking in zip(rows_of.values(), rank_groups(self.ranker, groups, options), strict=True):
            self._report(ranking)
            scores[[rows[item.index] for item in ranking]] = descending_scores(ranking, raw=self._raw)
        return scores


def _reject(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value:
            raise CascadaError(f"{name} is not supported: it would change the ranker's scores.")


def _is_pair(inputs: Any) -> bool:
    """Whether this is a pair, and not a list of pairs."""
    return len(inputs) == 2 and all(isinstance(part, str) for part in inputs)


def _pair(pair: Any) -> tuple[str, str]:
    if not _is_pair(pair):
        raise CascadaError("Each pair must be a question and a text, two strings.")
    question, text = pair
    return str(question), str(text)
