"""Which questions count, and what is rejected with which message."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time

import pytest
import pytrec_eval

from cascada.core.errors import CascadaError
from cascada.metrics import DEFAULT_MEASURES, Measure, evaluate

RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 0}, "q3": {"a": 1}}


def test_the_usual_four_come_in_their_usual_order():
    assert list(evaluate(RUN, QRELS).mean) == ["MAP", "MRR", "P@1", "nDCG@10"] == list(DEFAULT_MEASURES)


def test_questions_without_a_correct_candidate_and_missing_ones_count_as_zero():
    found = evaluate(RUN, QRELS, ["MRR"])
    assert found.by_question == {"MRR": {"q1": 1.0, "q2": 0.0, "q3": 0.0}}
    assert (found.questions, found.mean["MRR"]) == (3, pytest.approx(1 / 3))


def test_questions_without_a_correct_candidate_can_be_left_out():
    assert list(evaluate(RUN, QRELS, without_correct="skip").by_question["MAP"]) == ["q1", "q3"]
    # Nobody judged any candidate: as good as no correct one.
    assert evaluate(RUN, {"q1": {"a": 1}, "q2": {}}, without_correct="skip").questions == 1


def test_missing_questions_can_be_left_out():
    assert list(evaluate(RUN, QRELS, missing="skip").by_question["MAP"]) == ["q1", "q2"]
    assert evaluate(RUN | {"q3": {}}, QRELS, missing="skip").questions == 2  # ranked nothing: missing too


def test_both_can_be_left_out():
    assert evaluate(RUN, QRELS, without_correct="skip", missing="skip").mean["MAP"] == 1.0


def test_questions_nobody_judged_are_left_out():
    assert evaluate(RUN | {"q9": {"a": 1.0}}, QRELS).questions == 3


@pytest.mark.parametrize(
    ("policies", "sentence"),
    [
        ({"without_correct": "error"}, "1 questions have no correct candidate: 'q2'"),
        ({"missing": "error"}, "1 questions are not in the run: 'q3'"),
        ({"missing": "maybe"}, 'missing is "zero", "skip" or "error", not \'maybe\''),
    ],
)
def test_a_policy_can_raise(policies, sentence):
    with pytest.raises(CascadaError, match=sentence):
        evaluate(RUN, QRELS, **policies)


def test_there_must_be_something_left_to_measure():
    with pytest.raises(CascadaError, match="No question is left to measure"):
        evaluate(RUN, {"q2": {"a": 0}}, without_correct="skip")


@pytest.mark.parametrize("run", [{}, {"q1": {}}, {"Q1": {"a": 1.0}}])
def test_run_and_answers_must_share_a_question(run):
    with pytest.raises(CascadaError, match=r"share no question.*'q1', 'q2', 'q3'"):
        evaluate(run, QRELS)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 1e39])
def test_a_score_that_is_not_finite_is_named(score):
    with pytest.raises(CascadaError, match="candidate 'b' for question 'q2'"):
        evaluate({"q1": {"a": 1.0}, "q2": {"a": 1.0, "b": score}}, QRELS)


@pytest.mark.parametrize("label", [0.5, "1", None, 2**40])
def test_a_relevance_that_is_not_a_whole_number_is_named(label):
    with pytest.raises(CascadaError, match="relevance of candidate 'a' for question 'q1'"):
        evaluate(RUN, {"q1": {"a": label}})


@pytest.mark.parametrize("candidate", ["\ud800", "a\0b", 7])
def test_ids_that_trec_eval_cannot_hold_are_rejected(candidate):
    for run, qrels in [({"q1": {candidate: 1.0}}, QRELS), (RUN, {"q1": {candidate: 1}}), (RUN, {candidate: {}})]:
        with pytest.raises(CascadaError, match=r"[Ii]ds? in "):
            evaluate(run, qrels)


def test_a_score_that_is_no_number_is_rejected():
    with pytest.raises(CascadaError, match="A score of question 'q1' is not a number"):
        evaluate({"q1": {"a": "high"}}, QRELS)


@pytest.mark.parametrize(
    ("written", "name"),
    [("map", "MAP"), ("MRR", "MRR"), ("p@3", "P@3"), ("NDCG@10", "nDCG@10"), ("Recall@5", "R@5"), ("R@05", "R@5")],
)
def test_measures_by_name(written, name):
    assert Measure.parse(written).name == name
    assert list(evaluate(RUN, QRELS, [written]).mean) == [name]


@pytest.mark.parametrize("name", ["F1", "P", "P@", "P@0", "P@-1", "P@1.5", "MAP@10", "P@²", "P@9999999999", ""])
def test_an_unknown_measure_is_answered_with_the_known_ones(name):
    with pytest.raises(CascadaError, match=r"is not a measure; the measures are MAP, MRR, P@k, nDCG@k and R@k"):
        evaluate(RUN, QRELS, [name])


def test_one_measure_may_be_given_alone_but_not_none():
    assert list(evaluate(RUN, QRELS, "P@1").mean) == ["P@1"]
    with pytest.raises(CascadaError, match="name at least one measure"):
        evaluate(RUN, QRELS, [])


def test_thousands_of_questions_take_little_more_than_trec_evals_own_time():
    draw = random.Random(0)
    run = {f"q{q}": {f"c{c}": draw.random() for c in range(50)} for q in range(3000)}
    qrels = {question: dict.fromkeys(list(scores)[:2], 1) for question, scores in run.items()}
    names = {"map", "recip_rank", "P.1", "ndcg_cut.10"}
    evaluate(RUN, QRELS)  # imports pytrec_eval
    start = time.process_time()
    pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
    theirs = time.process_time() - start
    evaluate(run, qrels)
    assert time.process_time() - start - theirs < 10 * theirs


def test_importing_brings_in_no_heavy_library():
    heavy = {"torch", "transformers", "scipy", "ir_measures", "pytrec_eval", "pandas", "matplotlib"}
    code = f"import sys, cascada.metrics; print(sorted({heavy!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_core_install_is_reported_what_to_install():
    code = (
        "import sys; sys.modules['pytrec_eval'] = None\n"
        "from cascada.metrics import evaluate\n"
        "evaluate({'q': {'a': 1.0}}, {'q': {'a': 1}})"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'measuring needs pytrec_eval: pip install "cascada[eval]"' in answer.stderr
