"""PyTerrier: a transformer that reranks. Java is not started for it.

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
from cascada.integrations.ranks import Ranks, falling, ranker_of, rankings


class CascadaReranker(pt.Transformer):
    """Gives every row a new `score` and `rank`; all other columns stay as they are, and so does the rows' order.

    `model` is what `Ranker.load` takes, or a ranker. The frame needs `qid`, `query`, `docno` and the text, in the
    column `field`.
    """

    def __init__(
        self,
        model: str | Path | Ranks | None = None,
        *,
        field: str = "text",
        drop: Any = None,
        keep: Sequence[int] | None = None,
        deadline_ms: float | None = None,
    ) -> None:
        self.ranker = ranker_of(model)
        self.field = field
        self.cut: dict[str, Any] = {"drop": drop, "keep": keep, "deadline_ms": deadline_ms}

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        missing = [name for name in ("qid", "query", "docno", self.field) if name not in inp.columns]
        if missing:
            raise CascadaError(
                f"The frame has no column {missing[0]}; it must have qid, query, docno and {self.field}."
            )
        places = list(inp.groupby("qid", sort=False).indices.values())  # each question's rows
        queries, texts = inp["query"].tolist(), inp[self.field].tolist()
        groups = [(queries[rows[0]], [texts[row] for row in rows]) for rows in places]
        scores = np.zeros(len(inp))
        for rows, ranking in zip(places, rankings(self.ranker, groups, **self.cut), strict=True):
            scores[[rows[item.index] for item in ranking]] = falling(ranking)
        return pt.model.add_ranks(inp.assign(score=scores))
