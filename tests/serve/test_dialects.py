"""Clients that already exist are answered as they expect."""

import asyncio

import cohere
import httpx
import pytest
from loopback import metric

QUESTION = "who wrote hamlet?"
TEXTS = ["It rained.", "Shakespeare wrote Hamlet.", "Shakespeare wrote."]


@pytest.fixture
def long(words):
    """Does not fit 64 tokens."""
    return " ".join(words[:100])


def url(http):
    return str(http.base_url)


def test_coheres_client_of_version_1_gets_documents_back_whole(bm25):
    client = cohere.Client("key", base_url=url(bm25))
    documents = [{"text": TEXTS[0], "id": "a"}, {"text": TEXTS[1], "id": "b"}]
    found = client.rerank(model="any", query=QUESTION, documents=documents, top_n=1, return_documents=True)
    (best,) = found.results
    assert (best.index, best.document.text, best.document.id) == (1, TEXTS[1], "b")
    assert 0 < best.relevance_score < 1
    assert found.id
    assert found.meta.api_version.version == "1"


def test_coheres_client_of_version_2_gets_all_results_in_order(bm25):
    client = cohere.ClientV2("key", base_url=url(bm25))
    found = client.rerank(model="any", query=QUESTION, documents=TEXTS)
    assert [one.index for one in found.results] == [1, 2, 0]
    scores = [one.relevance_score for one in found.results]
    assert scores == sorted(scores, reverse=True)
    assert found.meta.api_version.version == "2"


def test_coheres_client_can_be_awaited(bm25):
    async def rerank():
        client = cohere.AsyncClientV2("key", base_url=url(bm25))
        return await client.rerank(model="any", query=QUESTION, documents=TEXTS, top_n=2)

    assert [one.index for one in asyncio.run(rerank()).results] == [1, 2]


def test_coheres_client_raises_its_own_errors_with_our_sentence(bm25):
    client = cohere.ClientV2("key", base_url=url(bm25))
    with pytest.raises(cohere.BadRequestError) as caught:
        client.rerank(model="any", query=QUESTION, documents=[])
    assert caught.value.body["message"] == "There are no documents to rank."


def test_cohere_results_tell_raw_scores_and_who_was_cut(cascade_server, cascade, words, long):
    texts = [words[3], long]
    found = cascade_server.post("/v2/rerank", json={"model": "m", "query": words[0], "documents": texts}).json()
    alone = cascade.rank(words[0], texts)
    assert [one["truncated"] for one in found["results"]] == [item.truncated for item in alone]
    assert [one["raw_score"] for one in found["results"]] == pytest.approx([item.raw_score for item in alone], abs=1e-5)
    assert {one["truncated"] for one in found["results"]} == {True, False}
    assert "document" not in found["results"][0]


def test_cohere_rank_fields_are_read_instead_of_the_text(bm25):
    documents = [{"title": "Hamlet", "text": "-"}, {"title": "Othello", "text": "Hamlet Hamlet"}]
    body = {"query": "hamlet", "documents": documents, "rank_fields": ["title"], "return_documents": True}
    results = bm25.post("/v1/rerank", json=body).json()["results"]
    assert results[0]["document"] == documents[0]
    assert results[1]["relevance_score"] == 0


def test_what_is_not_looked_at_is_told(bm25):
    body = {"model": "m", "query": QUESTION, "documents": TEXTS, "max_tokens_per_doc": 100}
    (warning,) = bm25.post("/v2/rerank", json=body).json()["meta"]["warnings"]
    assert warning.startswith("max_tokens_per_doc is not looked at")


@pytest.mark.parametrize(("wish", "returned"), [({}, True), ({"return_documents": False}, False)])
def test_jinas_clients_get_documents_unless_they_decline(bm25, wish, returned):
    """The shape of Jina's documentation: model, object, usage, results with documents."""
    body = {"model": "jina-reranker-v2-base-multilingual", "query": QUESTION, "documents": TEXTS, "top_n": 2}
    found = bm25.post("/v1/rerank", json=body | wish).json()
    assert found["object"] == "list"
    assert found["usage"]["total_tokens"] > 0
    assert isinstance(found["model"], str)
    assert [one["index"] for one in found["results"]] == [1, 2]
    assert found["results"][0].get("document") == ({"text": TEXTS[1]} if returned else None)


def test_jinas_clients_find_a_refusal_under_detail(bm25):
    refused = bm25.post("/v1/rerank", json={"model": "jina-x", "query": QUESTION, "documents": 5})
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("documents:")


def test_text_embeddings_inference_is_a_list_of_indices_and_scores(bm25):
    found = bm25.post("/rerank", json={"query": QUESTION, "texts": TEXTS, "return_text": True}).json()
    assert [(one["index"], one["text"]) for one in found] == [(i, TEXTS[i]) for i in (1, 2, 0)]
    plain = bm25.post("/rerank", json={"query": QUESTION, "texts": TEXTS}).json()
    assert [set(one) for one in plain] == [{"index", "score", "truncated"}] * 3


def test_text_embeddings_inference_gives_raw_scores_when_asked(cascade_server, cascade, words):
    texts = [" ".join(words[i : i + 5]) for i in range(4)]
    alone = cascade.rank(words[0], texts)
    for raw, name in ((True, "raw_score"), (False, "score")):
        found = cascade_server.post("/rerank", json={"query": words[0], "texts": texts, "raw_scores": raw}).json()
        assert [one["score"] for one in found] == pytest.approx([getattr(item, name) for item in alone], abs=1e-5)


def test_text_embeddings_inference_refuses_long_texts_when_told_not_to_cut(cascade_server, words, long):
    body = {"query": words[0], "texts": [words[1], long]}
    assert [one["truncated"] for one in cascade_server.post("/rerank", json=body).json()].count(True) == 1
    refused = cascade_server.post("/rerank", json=body | {"truncate": False})
    assert (refused.status_code, refused.json()["error_type"]) == (413, "Validation")
    assert refused.json()["error"].startswith("Text 1 and the query do not fit")


def test_text_embeddings_inference_is_refused_in_its_own_words(bm25):
    refused = bm25.post("/rerank", json={"query": QUESTION, "texts": []})
    assert (refused.status_code, refused.json()["error_type"]) == (400, "Empty")


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank", "/rerank"])
def test_every_dialect_takes_our_drop(cascade_server, words, path):
    name = 'cascada_dropped_candidates_total{exit="2",stage="0"}'
    before = metric(cascade_server, name)
    body = {"query": words[0], "documents": words[1:11], "texts": words[1:11], "drop": 0.5}
    assert cascade_server.post(path, json=body).status_code == 200
    assert metric(cascade_server, name) - before == 5


def test_httpx_is_all_a_client_needs(bm25):
    assert httpx.post(f"{url(bm25)}/rerank", json={"query": "a", "texts": ["a"]}).status_code == 200
