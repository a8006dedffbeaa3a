"""Groups ranked in one run come out as they do alone."""

import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.ranking.stage import Deadline

GROUPS = [
    ("who wrote hamlet?", ["It rained.", "Shakespeare wrote Hamlet."]),
    ("rain", ["It is dry.", "Rain.", "It rained."]),
]


def test_each_group_is_ranked_as_if_alone():
    ranker = Ranker.load("bm25+bm25")
    for how in ({}, {"drop": 0.5}, {"keep": [1]}):
        assert ranker.rank_together(GROUPS, **how) == [ranker.rank(*group, **how) for group in GROUPS]


def test_the_deadline_is_everyones():
    late = Ranker.load("bm25+bm25").rank_together(GROUPS, deadline=Deadline.after(-1))
    assert [ranking.complete for ranking in late] == [False, False]


def test_a_group_without_candidates_is_told():
    with pytest.raises(CascadaError, match="no candidates"):
        Ranker.load("bm25").rank_together([("who?", [])])


def test_no_groups_are_no_rankings():
    assert Ranker.load("bm25").rank_together([]) == []
