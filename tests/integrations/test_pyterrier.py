"""PyTerrier's transformer, in its pipelines; Java is never started."""

import pandas as pd
import pyterrier as pt
import pytest

from cascada.integrations.pyterrier import CascadaReranker


@pytest.fixture
def results(question, texts, words):
    first = pd.DataFrame(
        {"qid": "q1", "query": question, "docno": [f"d{i}" for i in range(30)], "text": texts, "n": range(30)}
    )
    second = pd.DataFrame({"qid": "q2", "query": words[9], "docno": ["x", "y"], "text": words[:2], "n": [30, 31]})
    return pd.concat([second.iloc[:1], first, second.iloc[1:]])  # a question's rows need not be adjacent


def order(frame, qid):
    return frame[frame.qid == qid].sort_values("rank").docno.tolist()


def test_every_question_is_ranked_separately(cascade, results, question, texts, words):
    reranked = CascadaReranker(cascade)(results)
    assert order(reranked, "q1") == [f"d{item.index}" for item in cascade.rank(question, texts)]
    assert order(reranked, "q2") == [["x", "y"][item.index] for item in cascade.rank(words[9], words[:2])]
    assert reranked.n.tolist() == results.n.tolist()
    assert list(results.columns) == ["qid", "query", "docno", "text", "n"]
    assert not pt.java.started()


def test_it_works_in_a_pipeline_and_drops(cascade, results, dropped):
    pipeline = pt.Transformer.from_df(results) >> CascadaReranker(cascade, drop=0.5) % 10
    topics = results[["qid", "query"]].drop_duplicates()
    assert order(pipeline(topics), "q1") == [f"d{index}" for index in dropped[:10]]


def test_measures_see_the_rankings_order(cascade, results, dropped):
    qrels = pd.DataFrame({"qid": "q1", "docno": [f"d{dropped[20]}"], "label": 1})
    topics = results[["qid", "query"]].drop_duplicates()
    rerank = pt.Transformer.from_df(results) >> CascadaReranker(cascade, drop=0.5)
    table = pt.Experiment([rerank], topics[topics.qid == "q1"], qrels, eval_metrics=["recip_rank"])
    assert table.recip_rank[0] == pytest.approx(1 / 21)


def test_an_empty_frame_stays_empty(cascade, results):
    reranked = CascadaReranker(cascade)(results.iloc[:0])
    assert len(reranked) == 0
    assert {"score", "rank"} <= set(reranked.columns)


def test_a_missing_column_is_named(cascade, results):
    with pytest.raises(ValueError, match="no column body"):
        CascadaReranker(cascade, field="body")(results)
