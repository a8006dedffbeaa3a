"""PyTerrier: a transformer that reranks. It does not start Java.

>>> import pandas
>>> results = pandas.DataFrame({"qid": "1", "query": "hamlet", "docno": ["a", "b"], "text": ["Rain.", "Hamlet's."]})
>>> CascadaReranker("bm25")(results).sort_values("rank").docno.tolist()
['b', 'a']
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from cascada.core.errors import CascadaError
from cascada.integrations.common import SupportsRank, descending_scores, rank_groups, ranker_of


class CascadaReranker(pt.Transformer):
    """Gives every row a new `score` and `rank`; the order of the rows and all other columns stay as they are.

    `model` is what `Ranker.load` takes, or a ranker. The frame must have the columns `qid`, `query`, `docno` and
    `field`, which holds the text.
    """

    def __init__(
        self,
        model: str | Path | SupportsRank | None = None,
        *,
        field: str = "text",
        drop: Any = None,
        keep: Sequence[int] | None = None,
        deadline_ms: float | None = None,
    ) -> None:
        self.ranker = ranker_of(model)
        self.field = field
        self.options: dict[str, Any] = {"drop": drop, "keep": keep, "deadline_ms": deadline_ms}

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        missing = [name for name in ("qid", "query", "docno", self.field) if name not in inp.columns]
        if missing:
            raise CascadaError(
                f"The frame has no column {missing[0]}; it must have qid, query, docno and {self.field}."
            )
        rows_of = list(inp.groupby("qid", sort=False).indices.values())  # each question's rows
        queries, texts = inp["query"].tolist(), inp[self.field].tolist()
        groups = [(queries[rows[0]], [texts[row] for row in rows]) for rows in rows_of]
        scores = np.zeros(len(inp))
        for rows, ranking in zip(rows_of, rank_groups(self.ranker, groups, **self.options), strict=True):
            scores[[rows[item.index] for item in ranking]] = descending_scores(ranking)
        return pt.model.add_ranks(inp.assign(score=scores))
