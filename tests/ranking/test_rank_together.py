"""`rank_together`: groups ranked in one run get the rankings that they get separately."""

import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.ranking.inputs import CheckedGroup, RankOptions, checked_group
from cascada.ranking.stage import Deadline

GROUPS = [
    ("who wrote hamlet?", ["It rained.", "Shakespeare wrote Hamlet."]),
    ("rain", ["It is dry.", "Rain.", "It rained."]),
]


def test_each_group_is_ranked_as_if_it_were_alone():
    ranker = Ranker.load("bm25+bm25")
    for options in ({}, {"drop": 0.5}, {"keep": [1]}, {"top": 1}, {"min_score": 0.5}):
        together = ranker.rank_together(GROUPS, RankOptions.of(**options))
        assert together == [ranker.rank(*group, **options) for group in GROUPS]


def test_the_deadline_applies_to_all_groups():
    late = Ranker.load("bm25+bm25").rank_together(GROUPS, RankOptions(deadline=Deadline.after(-1)))
    assert [ranking.complete for ranking in late] == [False, False]


def test_a_group_without_candidates_is_rejected():
    with pytest.raises(CascadaError, match="no candidates"):
        Ranker.load("bm25").rank_together([("who?", [])])


def test_a_checked_group_is_not_checked_again():
    checked = checked_group(("who?", ["a"]))
    assert checked == CheckedGroup("who?", ("a",))
    assert checked_group(checked) is checked


def test_without_groups_there_are_no_rankings():
    assert Ranker.load("bm25").rank_together([]) == []
