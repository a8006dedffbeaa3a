"""Existing clients get the responses that they expect."""

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
    response = client.rerank(model="any", query=QUESTION, documents=documents, top_n=1, return_documents=True)
    (best,) = response.results
    assert (best.index, best.document.text, best.document.id) == (1, TEXTS[1], "b")
    assert 0 < best.relevance_score < 1
    assert response.id
    assert response.meta.api_version.version == "1"


def test_coheres_client_of_version_2_gets_all_results_in_order(bm25):
    client = cohere.ClientV2("key", base_url=url(bm25))
    response = client.rerank(model="any", query=QUESTION, documents=TEXTS)
    assert [result.index for result in response.results] == [1, 2, 0]
    scores = [result.relevance_score for result in response.results]
    assert scores == sorted(scores, reverse=True)
    assert response.meta.api_version.version == "2"


def test_coheres_client_can_be_awaited(bm25):
    async def rerank():
        client = cohere.AsyncClientV2("key", base_url=url(bm25))
        return await client.rerank(model="any", query=QUESTION, documents=TEXTS, top_n=2)

    assert [result.index for result in asyncio.run(rerank()).results] == [1, 2]


def test_coheres_client_raises_its_own_errors_with_our_sentence(bm25):
    client = cohere.ClientV2("key", base_url=url(bm25))
    with pytest.raises(cohere.BadRequestError) as caught:
        client.rerank(model="any", query=QUESTION, documents=[])
    assert caught.value.body["message"] == "There are no documents to rank."


def test_cohere_results_have_raw_scores_and_say_which_texts_were_truncated(cascade_server, cascade, words, long):
    texts = [words[3], long]
    body = {"model": "m", "query": words[0], "documents": texts, "long": "first"}
    results = cascade_server.post("/v2/rerank", json=body).json()["results"]
    local = cascade.rank(words[0], texts, long="first")
    assert [result["truncated"] for result in results] == [item.truncated for item in local]
    assert [result["raw_score"] for result in results] == pytest.approx([item.raw_score for item in local], abs=1e-5)
    assert {result["truncated"] for result in results} == {True, False}
    assert "document" not in results[0]


def test_cohere_rank_fields_are_read_instead_of_the_text(bm25):
    documents = [{"title": "Hamlet", "text": "-"}, {"title": "Othello", "text": "Hamlet Hamlet"}]
    body = {"query": "hamlet", "documents": documents, "rank_fields": ["title"], "return_documents": True}
    results = bm25.post("/v1/rerank", json=body).json()["results"]
    assert results[0]["document"] == documents[0]
    assert results[1]["relevance_score"] == 0


def test_a_warning_names_what_is_ignored(bm25):
    body = {"model": "m", "query": QUESTION, "documents": TEXTS, "max_chunks_per_doc": 100}
    (warning,) = bm25.post("/v2/rerank", json=body).json()["meta"]["warnings"]
    assert warning.startswith("max_chunks_per_doc is ignored")


def test_cohere_max_tokens_per_doc_is_honoured(cascade_server, words, long):
    body = {"model": "m", "query": words[0], "documents": [long]}
    whole = cascade_server.post("/v2/rerank", json=body).json()["results"][0]
    cut = cascade_server.post("/v2/rerank", json=body | {"max_tokens_per_doc": 20}).json()["results"][0]
    assert (whole["truncated"], cut["truncated"]) == (False, True)


@pytest.mark.parametrize("path", ["/v1/rank", "/v1/rerank", "/v2/rerank", "/rerank"])
def test_every_dialect_gives_the_order_of_the_ranker_whatever_the_options(cascade_server, cascade, words, long, path):
    texts = [words[5], long, words[7], words[9]]
    for options in ({}, {"long": "first"}, {"max_tokens": 20}, {"prior": 3.0}, {"cut": "gap"}, {"min_score": 0.5}):
        body = {"query": words[0], "documents": texts, "texts": texts, "question": words[0], "candidates": texts}
        content = cascade_server.post(path, json=body | options).json()
        results = content if isinstance(content, list) else content.get("results", content.get("items"))
        assert [result["index"] for result in results] == [
            item.index for item in cascade.rank(words[0], texts, **options)
        ]
    assert cascade_server.post(path, json=body | {"long": "error"}).status_code == 413
    assert cascade_server.post(path, json=body | {"long": "some"}).status_code == 422
    assert cascade_server.post(path, json=body | {"skip_if_sure": 1}).status_code == 422


@pytest.mark.parametrize(("choice", "returned"), [({}, True), ({"return_documents": False}, False)])
def test_jinas_clients_get_documents_unless_they_decline(bm25, choice, returned):
    """The shape of Jina's documentation: model, object, usage, results with documents."""
    body = {"model": "jina-reranker-v2-base-multilingual", "query": QUESTION, "documents": TEXTS, "top_n": 2}
    response = bm25.post("/v1/rerank", json=body | choice).json()
    assert response["object"] == "list"
    assert response["usage"]["total_tokens"] > 0
    assert isinstance(response["model"], str)
    assert [result["index"] for result in response["results"]] == [1, 2]
    assert response["results"][0].get("document") == ({"text": TEXTS[1]} if returned else None)


def test_jinas_clients_find_an_error_under_detail(bm25):
    rejected = bm25.post("/v1/rerank", json={"model": "jina-x", "query": QUESTION, "documents": 5})
    assert rejected.status_code == 422
    assert rejected.json()["detail"].startswith("documents:")


def test_text_embeddings_inference_is_a_list_of_indices_and_scores(bm25):
    results = bm25.post("/rerank", json={"query": QUESTION, "texts": TEXTS, "return_text": True}).json()
    assert [(result["index"], result["text"]) for result in results] == [(i, TEXTS[i]) for i in (1, 2, 0)]
    plain = bm25.post("/rerank", json={"query": QUESTION, "texts": TEXTS}).json()
    assert [set(result) for result in plain] == [{"index", "score", "truncated"}] * 3


def test_text_embeddings_inference_gives_raw_scores_when_asked(cascade_server, cascade, words):
    texts = [" ".join(words[i : i + 5]) for i in range(4)]
    local = cascade.rank(words[0], texts)
    for raw, name in ((True, "raw_score"), (False, "score")):
        results = cascade_server.post("/rerank", json={"query": words[0], "texts": texts, "raw_scores": raw}).json()
        expected = [getattr(item, name) for item in local]
        assert [result["score"] for result in results] == pytest.approx(expected, abs=1e-5)


def test_text_embeddings_inference_rejects_long_texts_when_truncation_is_off(cascade_server, words, long):
    body = {"query": words[0], "texts": [words[1], long]}
    cut = cascade_server.post("/rerank", json=body | {"truncate": True}).json()
    assert [result["truncated"] for result in cut].count(True) == 1
    rejected = cascade_server.post("/rerank", json=body | {"truncate": False})
    assert (rejected.status_code, rejected.json()["error_type"]) == (413, "Validation")
    assert rejected.json()["error"].startswith("Candidate 1 does not fit")


def test_text_embeddings_inference_gets_its_own_error_types(bm25):
    rejected = bm25.post("/rerank", json={"query": QUESTION, "texts": []})
    assert (rejected.status_code, rejected.json()["error_type"]) == (400, "Empty")


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank", "/rerank"])
def test_every_dialect_takes_our_drop(cascade_server, words, path):
    name = 'cascada_dropped_candidates_total{exit="2",stage="0"}'
    before = metric(cascade_server, name)
    body = {"query": words[0], "documents": words[1:11], "texts": words[1:11], "drop": 0.5}
    assert cascade_server.post(path, json=body).status_code == 200
    assert metric(cascade_server, name) - before == 5


def test_httpx_is_all_a_client_needs(bm25):
    assert httpx.post(f"{url(bm25)}/rerank", json={"query": "a", "texts": ["a"]}).status_code == 200
