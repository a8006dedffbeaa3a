"""sentence-transformers: an object with `CrossEncoder`'s `predict` and `rank`. It needs neither that library nor torch.

>>> model = CrossEncoder("bm25")
>>> model.rank("who wrote hamlet?", ["It rained.", "Hamlet is by Shakespeare."], top_k=1)[0]["corpus_id"]
1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cascada.core.errors import CascadaError, require
from cascada.integrations.ranks import Ranks, falling, ranker_of, rankings
from cascada.ranking.stage import Floats


class CrossEncoder:
    """Stands where a `sentence_transformers.CrossEncoder` with one label does; scores are in [0, 1].

    `model` is what `Ranker.load` takes, or a ranker. Arguments of `predict` and `rank` that say how to compute
    (`batch_size`, `device`, …) are taken and not looked at: engines choose for themselves. Those that would change the
    scores (`prompt`, `activation_fn`, …) are refused.
    """

    def __init__(
        self,
        model: str | Path | Ranks | None = None,
        *,
        drop: Any = None,
        keep: Sequence[int] | None = None,
        deadline_ms: float | None = None,
    ) -> None:
        self.ranker = ranker_of(model)
        self.cut: dict[str, Any] = {"drop": drop, "keep": keep, "deadline_ms": deadline_ms}

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
        """The scores of (question, text) pairs, in their order; of one pair, one score.

        Pairs with the same question are ranked against each other, wherever they stand: with drops, the scores sort as
        the ranking does.
        """
        _refuse(prompt_name=prompt_name, prompt=prompt, activation_fn=activation_fn, apply_softmax=apply_softmax)
        pairs = [_pair(inputs)] if (alone := _is_one(inputs)) else [_pair(pair) for pair in inputs]
        scores = self._scores(pairs)
        if convert_to_tensor:
            scores = require("torch", "train", "convert_to_tensor").from_numpy(scores)
        elif not convert_to_numpy:
            return float(scores[0]) if alone else scores.tolist()
        return scores[0] if alone else scores

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
        """The best documents: `corpus_id` (place in the list), `score` and, if they are wanted, `text`."""
        _refuse(prompt_name=prompt_name, prompt=prompt, activation_fn=activation_fn)
        if not documents:
            return []
        ranking = self.ranker.rank(query, documents, top=top_k, **self.cut)
        return [
            {"corpus_id": item.index, "score": score} | ({"text": documents[item.index]} if return_documents else {})
            for item, score in zip(ranking, falling(ranking), strict=True)
        ]

    def _scores(self, pairs: list[tuple[str, str]]) -> Floats:
        places: dict[str, list[int]] = {}
        for place, (question, _) in enumerate(pairs):
            places.setdefault(question, []).append(place)
        groups = [(question, [pairs[place][1] for place in rows]) for question, rows in places.items()]
        scores = np.zeros(len(pairs), np.float32)
        for rows, ranking in zip(places.values(), rankings(self.ranker, groups, **self.cut), strict=True):
            scores[[rows[item.index] for item in ranking]] = falling(ranking)
        return scores


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value:
            raise CascadaError(f"{name} is not for this ranker: its scores are what they are.")


def _is_one(inputs: Any) -> bool:
    """A pair, and not a list of pairs."""
    return len(inputs) == 2 and all(isinstance(part, str) for part in inputs)


def _pair(pair: Any) -> tuple[str, str]:
    if not _is_one(pair):
        raise CascadaError("A pair is not a question and a text, two strings.")
    question, text = pair
    return str(question), str(text)
