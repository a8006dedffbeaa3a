"""The fields of integrations that are pydantic models: the options of `Ranker.rank` and those of `Ranker.prune`."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from cascada.ranking.long_texts import Long
from cascada.ranking.selection import Cut


class RankFields(BaseModel):
    """The arguments of `Ranker.rank`, with `top` by the name that these frameworks have for it."""

    top_n: int | None = None
    drop: Any = None
    keep: Sequence[int] | None = None
    min_score: float | None = None
    cut: Cut | None = None
    deadline_ms: float | None = None
    long: Long | None = None
    max_tokens: int | None = None
    prior: bool | float | None = None
    skip_if_sure: float | None = None


class PruneFields(BaseModel):
    """The arguments of `Ranker.prune`."""

    min_score: float | None = None
    min_relative_score: float | None = None
    budget: int | None = None
    drop: Any = None
    keep: Sequence[int] | None = None
    deadline_ms: float | None = None
    language: str = "en"

    def prune_options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in PruneFields.model_fields}
