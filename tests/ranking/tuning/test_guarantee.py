"""Keep counts with a guarantee: the arithmetic is exact, and the promise is kept as often as it says."""

from decimal import Decimal
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from score_tables import exit_scores, groups_of, learning, ranker_of, scores_of

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Margin
from cascada.ranking.tuning import certified, default_grid, tune_keeping_best
from cascada.ranking.tuning.chains import keep_chain, margin_chain
from cascada.ranking.tuning.guarantee import p_value, questions_needed, survivals
from cascada.ranking.tuning.replay import costs


def tail(survived, questions, share):
    """P(X ≥ survived), term by term."""
    terms = range(survived, questions + 1)
    return sum(comb(questions, k) * share**k * (1 - share) ** (questions - k) for k in terms)


@given(st.integers(1, 80), st.integers(0, 80), st.floats(0.01, 0.99))
def test_the_tail_is_the_binomials(questions, survived, share):
    survived = min(survived, questions)
    assert p_value(np.array([survived]), questions, share)[0] == pytest.approx(tail(survived, questions, share))


@pytest.mark.parametrize(("share", "confidence", "needed"), [(0.95, 0.95, 59), (0.9, 0.95, 29), (0.99, 0.99, 459)])
def test_the_number_of_questions_that_are_needed(share, confidence, needed):
    assert questions_needed(share, confidence) == needed
    assert share**needed <= 1 - confidence < share ** (needed - 1)


@given(exit_scores(), st.data())
def test_who_survives_is_who_comes_to_the_rankers_last_exit(scores, data):
    plan = data.draw(st.tuples(*[st.integers(1, 9)] * (len(scores.exits) - 1)))
    (found,) = survivals(scores, [plan])
    ranker = ranker_of(scores)
    for survived, group in zip(found, groups_of(scores), strict=True):
        best = ranker.rank(group.question, group.texts, drop=0)[0].index
        last = {
            item.index for item in ranker.rank(group.question, group.texts, keep=plan) if item.exit == ranker.exits[-1]
        }
        assert survived == (best in last)


@given(exit_scores(questions=2))
def test_the_chain_starts_with_all_candidates_and_keeps_fewer_and_fewer(scores):
    nobody, *plans = keep_chain(scores)
    assert set(nobody) == {Decimal(0)}
    for one, other in pairwise(plans):
        assert all(after <= before for before, after in zip(one, other, strict=True))
        assert one != other
    assert survivals(scores, plans)[0].all()


def uniform(questions, candidates, chance):
    """The full model's best candidate has any rank at the first exit: if k of n are kept, it survives in k/n."""
    final = np.eye(candidates)[0]
    return scores_of([[chance.permutation(candidates), final] for _ in range(questions)])


def test_the_guarantee_fails_no_more_often_than_its_confidence_allows():
    """Two hundred data sets of which the truth is known; a fifth of the certificates may be wrong."""
    chance, share, confidence = np.random.default_rng(5), 0.8, 0.8
    kept = []
    for _ in range(200):
        (keep,) = certified(*uniform(60, 20, chance).halves(0), share, confidence).plan
        kept.append(keep if isinstance(keep, int) else 20)
    wrong = np.mean(np.array(kept) / 20 < share)
    assert wrong <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 200)
    assert wrong > 0.02, "so strict that it promises nothing"
    assert np.mean(kept) < 19, "it keeps nearly everyone"


def test_the_plan_is_tested_on_questions_it_was_not_learned_from():
    """Where the two halves disagree the held-out half has the say: nothing that it loses is dropped."""
    good, bad = [3, 2, 1], [1, 2, 3]
    learn = scores_of([[good, good]] * 60)
    test = scores_of([[bad, good]] * 60)
    assert certified(learn, test, 0.9, 0.9).plan == (3,)
    assert certified(learn, learn, 0.9, 0.9).plan == (1,)


def test_with_too_few_questions_the_error_names_the_number_needed():
    with pytest.raises(CascadaError, match="at least 59 held-out questions, so 117 in all, but there are 50"):
        certified(*learning(100, 5).halves(0), 0.95, 0.95)


def test_as_few_as_are_needed_are_enough():
    assert certified(*learning(117, 5).halves(0), 0.95, 0.95).questions == 59


@pytest.mark.parametrize(("share", "confidence", "questions"), [(0.3, 0.91, 2), (0.23, 0.77, 1)])
def test_with_no_question_to_spare_a_rounding_error_certifies_nothing_that_drops(share, confidence, questions):
    """The share to the power of the questions is 1 - confidence, but not as binary floats."""
    good, bad = [3, 2, 1], [1, 2, 3]
    found = certified(scores_of([[good, good]] * 9), scores_of([[bad, good]] * questions), share, confidence)
    assert (found.plan, found.survived) == ((Decimal(0),), questions)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_certainty_cannot_be_asked_for(share):
    with pytest.raises(CascadaError, match="between 0 and 1"):
        certified(*learning(100, 5).halves(0), share, 0.9)


def test_the_choice_carries_its_certificate():
    found = tune_keeping_best(learning(200, 10), default_grid(3), at_least=0.9, confidence=0.95)
    chosen = found.to_dict()["chosen"]
    assert len(chosen["keep"]) == 2
    assert chosen["relative_cost"] < 1
    certificate = chosen["certificate"]
    assert certificate["questions"] == chosen["checked_on"]["questions"] == 100
    assert tail(certificate["survived"], 100, 0.9) <= 0.05
    assert str(found.chosen.certificate).endswith("with 95 % confidence it does in at least 90 % of all.")


@given(exit_scores(questions=2))
def test_a_chain_of_margins_starts_with_all_candidates_and_narrows(scores):
    nobody, *plans = margin_chain(scores)
    assert set(nobody) == {Decimal(0)}
    for one, other in pairwise(plans):
        assert all(after.margin <= before.margin for before, after in zip(one, other, strict=True))
        assert one != other
    assert survivals(scores, plans)[0].all()
    assert costs(scores, plans[0]) == pytest.approx(np.ones(len(scores.questions)))


def clear_or_close(questions, seed=0):
    """In half of the questions the first exit knows the answer; in the others it is one of ten with high scores."""
    chance = np.random.default_rng(seed)
    matrices = []
    for number in range(questions):
        final = np.eye(40)[0]
        first = np.where(np.arange(40) == 0, 8.0, 0.0) if number % 2 else np.where(np.arange(40) < 10, 6.0, 0.0)
        matrices.append([first + chance.normal(size=40) / 2, final])
    return scores_of(matrices, layers=[1, 9])


def test_margins_cost_less_than_keep_counts_where_some_questions_are_easier():
    scores = clear_or_close(200)
    keeps, margins = (
        tune_keeping_best(scores, default_grid(2), at_least=0.95, confidence=0.95, margins=margins).chosen.checked_on
        for margins in (False, True)
    )
    assert margins.chosen["relative_cost"] < 0.8 * keeps.chosen["relative_cost"]
    assert margins.chosen["relative_cost_p95"] > 1.3 * margins.chosen["relative_cost"]
    assert keeps.chosen["relative_cost_p95"] == pytest.approx(keeps.chosen["relative_cost"])


def test_a_certified_margin_holds_on_questions_that_nobody_has_seen():
    certificate = certified(*clear_or_close(200).halves(0), 0.9, 0.95, margin_chain)
    assert survivals(clear_or_close(1000, seed=1), [certificate.plan]).mean() >= 0.9
    assert isinstance(certificate.plan[0], Margin)


@pytest.mark.parametrize("margins", [False, True])
def test_no_exit_of_a_certified_plan_keeps_fewer_than_asked(margins):
    chosen = tune_keeping_best(
        clear_or_close(200), default_grid(2), at_least=0.9, confidence=0.9, margins=margins, least=25
    ).chosen
    assert costs(clear_or_close(9), chosen.plan).min() >= (40 + 9 * 25) / 400
