"""The sequential ranker (SR of the Cascade Transformer paper): independent rankers, one after another."""

from __future__ import annotations

from collections.abc import Sequence

from cascada.ranking.plan import drop_plan
from cascada.ranking.ranker import Ranker


def sequential_ranker(rankers: Sequence[Ranker]) -> Ranker:
    """Run independent rankers in sequence, each on the survivors of the one before.

    Costs are relative to the last ranker alone. By default each ranker drops by its own plan, and no candidates are
    dropped between two rankers.
    """
    between = drop_plan(0, 2)
    plan = tuple(rule for ranker in rankers for rule in (*ranker.plan, *between))[:-1]
    return Ranker([stage for ranker in rankers for stage in ranker.stages], full=rankers[-1].full, plan=plan)
