"""PyTerrier: a transformer that reranks. It does not start Java.

>>> import pandas
>>> results = pandas.DataFrame({"qid": "1", "query": "hamlet", "docno": ["a", "b"], "text": ["Rain.", "Hamlet's."]})
>>> CascadaReranker("bm25")(results).sort_values("rank").docno.tolist()
['b', 'a']
"""

from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd
import pyterrier as pt

from cascada.core.errors import CascadaError
from cascada.integrations.common import (
    Options,
    SupportsRank,
    candidates_of,
    checked,
    descending_scores,
    rank_groups,
    ranker_of,
)


class CascadaReranker(pt.Transformer):
    """Gives every row a new `score` and `rank`; the order of the rows and all other columns stay as they are.

    `model` is what `Ranker.load` takes, or a ranker. The frame must have the columns `qid`, `query`, `docno` and
    `field`, which holds the text. `options` are those of `Ranker.rank`; the first stage's scores, for `prior` and
    `skip_if_sure`, are in the column `score`. Rows that `min_score` or `cut` leaves out are removed. A column `likely`
    says of each question whether its best row is probably an answer.
    """

    def __init__(
        self, model: str | Path | SupportsRank | None = None, *, field: str = "text", **options: Unpack[Options]
    ) -> None:
        self.ranker = ranker_of(model)
        self.field = field
        self.options = checked(options)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        missing = [name for name in ("qid", "query", "docno", self.field) if name not in inp.columns]
        if missing:
            raise CascadaError(
                f"The frame has no column {missing[0]}; it must have qid, query, docno and {self.field}."
            )
        rows_of = list(inp.groupby("qid", sort=False).indices.values())  # each question's rows
        queries, texts = inp["query"].tolist(), inp[self.field].tolist()
        first_stage = inp["score"].tolist() if "score" in inp.columns else [None] * len(inp)
        groups = [
            (
                queries[rows[0]],
                candidates_of([texts[row] for row in rows], [first_stage[row] for row in rows], self.options),
            )
            for rows in rows_of
        ]
        scores = np.full(len(inp), np.nan)
        likely = np.full(len(inp), None, object)
        for rows, ranking in zip(rows_of, rank_groups(self.ranker, groups, self.options), strict=True):
            scores[[rows[item.index] for item in ranking]] = descending_scores(ranking)
            likely[rows] = ranking.likely
        return pt.model.add_ranks(inp.assign(score=scores, likely=likely)[~np.isnan(scores)])
