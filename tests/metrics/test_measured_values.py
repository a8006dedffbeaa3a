"""The numbers themselves: worked by hand, from the formulas, and from trec_eval's own code."""

from __future__ import annotations

from math import log2

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, nDCG
from slow_reference import slow

from cascada.metrics import DEFAULT_MEASURES, evaluate

MEASURES = ["MAP", "MRR", "P@1", "P@2", "P@5", "nDCG@1", "nDCG@3", "nDCG@10", "R@1", "R@4"]

ids = st.sampled_from(["c1", "c9", "c10", "c100", "C", "é", "日", "\uffff", "𝒳", " ", "a-b"])
# Few values, so that most lists have ties; some are equal as 32-bit floats only.
scores = st.sampled_from([0.0, -0.0, 0.5, 0.5 + 1e-12, 1 - 1e-9, 1.0, -3.25, 1e-300, 3e38])
runs = st.dictionaries(st.sampled_from("wxyz"), st.dictionaries(ids, scores, min_size=1), min_size=1)
judgements = st.dictionaries(st.sampled_from("wxyz"), st.dictionaries(ids, st.integers(-1, 4)), min_size=1)


def only(measure: str, scores: dict[str, float], labels: dict[str, int]) -> float:
    return evaluate({"q": scores}, {"q": labels}, [measure]).mean[measure]


@given(runs, judgements)
def test_every_value_is_the_formulas(run, qrels):
    if run.keys() & qrels.keys():
        found = evaluate(run, qrels, MEASURES)
        for measure, values in found.by_question.items():
            wanted = {question: slow(measure, run.get(question, {}), labels) for question, labels in qrels.items()}
            assert values == pytest.approx(wanted, rel=1e-12, abs=0)


@given(runs, judgements)
def test_every_value_is_trec_evals_to_the_last_bit(run, qrels):
    if run.keys() & qrels.keys():
        found = evaluate(run, qrels).by_question
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "recip_rank", "P.1", "ndcg_cut.10"}).evaluate(run)
        for question, values in theirs.items():
            ours = [found[measure][question] for measure in DEFAULT_MEASURES]
            assert ours == [values[name] for name in ("map", "recip_rank", "P_1", "ndcg_cut_10")]


@given(runs, judgements)
def test_means_are_ir_measures_means(run, qrels):
    if run.keys() & qrels.keys():
        theirs = ir_measures.pytrec_eval.calc_aggregate([AP, RR, P @ 5, nDCG @ 3, R @ 4], qrels, run)
        ours = evaluate(run, qrels, ["MAP", "MRR", "P@5", "nDCG@3", "R@4"]).mean
        assert list(ours.values()) == pytest.approx([theirs[m] for m in (AP, RR, P @ 5, nDCG @ 3, R @ 4)], abs=1e-12)


def test_a_list_worked_by_hand():
    # Correct at ranks 2 and 4; a third correct candidate was never ranked.
    ranked, labels = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, {"b": 1, "d": 1, "z": 1, "a": 0}
    assert only("MAP", ranked, labels) == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert only("MRR", ranked, labels) == 0.5
    assert only("P@1", ranked, labels) == 0.0
    assert only("P@10", ranked, labels) == pytest.approx(0.2)  # of 10, though only 4 were ranked
    assert only("R@2", ranked, labels) == pytest.approx(1 / 3)
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    assert only("nDCG@10", ranked, labels) == pytest.approx((1 / log2(3) + 1 / log2(5)) / ideal)


def test_the_gain_of_ndcg_is_the_grade_itself():
    assert only("nDCG@10", {"a": 2.0, "b": 1.0}, {"a": 1, "b": 3}) == pytest.approx(
        (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    )


def test_equal_scores_put_the_greater_id_first():
    tied = {"a": 1.0, "b": 1.0, "c": 1.0}
    assert [only("MRR", tied, {candidate: 1}) for candidate in "abc"] == pytest.approx([1 / 3, 1 / 2, 1])


def test_ids_are_compared_as_text():
    assert only("MRR", {"c9": 1.0, "c10": 1.0}, {"c9": 1}) == 1.0


def test_the_order_in_which_candidates_are_given_decides_nothing():
    tied = {"a": 1.0, "b": 1.0, "c": 1.0}
    turned = dict(reversed(tied.items()))
    assert only("MAP", tied, {"a": 1}) == only("MAP", turned, {"a": 1})


def test_scores_tie_when_32_bits_cannot_tell_them_apart():
    assert only("MRR", {"a": 1.0 + 1e-12, "b": 1.0}, {"a": 1}) == 0.5
    assert only("MRR", {"a": 1.0 + 1e-6, "b": 1.0}, {"a": 1}) == 1.0


def test_numpy_scores_and_labels_count_as_plain_ones():
    scored = {"a": np.float32(0.5), "b": np.float64(0.25), "c": 1}
    assert only("MRR", scored, {"a": np.int64(1), "c": np.bool_(False).item()}) == 0.5
