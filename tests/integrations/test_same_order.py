"""One question, many ways to ask: all dialects, adapters, clients and the agents' tool give the ranker's own order."""

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from haystack import Document as HaystackDocument
from langchain_core.documents import Document as LangChainDocument
from llama_index.core.schema import NodeWithScore, TextNode
from mcp import Client as McpClient

from cascada import Ranker
from cascada.client import AsyncClient, Client
from cascada.integrations.haystack import CascadaRanker
from cascada.integrations.langchain import CascadaCompressor
from cascada.integrations.llama_index import CascadaRerank
from cascada.integrations.mcp import server_of
from cascada.integrations.pyterrier import CascadaReranker
from cascada.integrations.sentence_transformers import CrossEncoder

sys.path.append(str(Path(__file__).parents[1] / "serve"))
from loopback import serving

OPTIONS = [
    {},
    {"long": "first"},
    {"max_tokens": 3},
    {"prior": 4.0},
    {"prior": True},
    {"min_score": 0.5},
    {"cut": "gap"},
    {"prior": 4.0, "skip_if_sure": 0.0},
    {"min_score": 1.0},
]


@pytest.fixture(scope="module")
def texts(words):
    long = " ".join(words[:120])
    return [" ".join(words[i : i + 1 + i % 5]) for i in range(12)] + [long]


@pytest.fixture(scope="module")
def scores(texts):
    """The first stage's; the best one is far ahead."""
    return [float(10 * (place == 5) + place % 4) for place in range(len(texts))]


@pytest.fixture(scope="module")
def http(cascade):
    with serving(cascade) as served:
        yield served


@pytest.fixture(scope="module")
def expected(cascade, question, texts, scores):
    def order(options):
        candidates = [{"text": text, "prior": score} for text, score in zip(texts, scores, strict=True)]
        return cascade.rank(question, candidates, **options)

    return order


def indices(items, key="index"):
    return [item[key] for item in items]


def own(http, question, texts, scores, options):
    candidates = [{"text": text, "prior": score} for text, score in zip(texts, scores, strict=True)]
    response = http.post("/v1/rank", json={"question": question, "candidates": candidates, **options}).json()
    return indices(response["items"]), response["likely"]


def cohere(path):
    def ask(http, question, texts, scores, options):
        documents = [{"text": text, "prior": score} for text, score in zip(texts, scores, strict=True)]
        response = http.post(path, json={"model": "m", "query": question, "documents": documents, **options}).json()
        return indices(response["results"]), response["likely"]

    return ask


def python_client(http, question, texts, scores, options):
    candidates = [{"text": text, "prior": score} for text, score in zip(texts, scores, strict=True)]
    with Client(str(http.base_url)) as client:
        ranking = client.rank(question, candidates, **options)
    return [item.index for item in ranking], ranking.likely


def async_client(http, question, texts, scores, options):
    async def rank():
        candidates = [{"text": text, "prior": score} for text, score in zip(texts, scores, strict=True)]
        async with AsyncClient(str(http.base_url)) as client:
            return await client.rank(question, candidates, **options)

    ranking = asyncio.run(rank())
    return [item.index for item in ranking], ranking.likely


def langchain(ranker, question, texts, scores, options):
    rankings = []
    pairs = enumerate(zip(texts, scores, strict=True))
    documents = [LangChainDocument(text, metadata={"page": i, "score": score}) for i, (text, score) in pairs]
    compressor = CascadaCompressor(ranker=ranker, on_ranking=rankings.append, **options)
    found = compressor.compress_documents(documents, question)
    assert {document.metadata["likely"] for document in found} <= {rankings[0].likely}
    return [document.metadata["page"] for document in found], rankings[0].likely


def llama_index(ranker, question, texts, scores, options):
    rankings = []
    pairs = enumerate(zip(texts, scores, strict=True))
    nodes = [NodeWithScore(node=TextNode(text=text, id_=str(i)), score=score) for i, (text, score) in pairs]
    rerank = CascadaRerank(ranker=ranker, on_ranking=rankings.append, **options)
    found = rerank.postprocess_nodes(nodes, query_str=question)
    return [int(node.node.node_id) for node in found], rankings[0].likely


def haystack(ranker, question, texts, scores, options):
    pairs = enumerate(zip(texts, scores, strict=True))
    documents = [HaystackDocument(content=text, meta={"page": i}, score=score) for i, (text, score) in pairs]
    output = CascadaRanker(ranker, **options).run(query=question, documents=documents)
    return [document.meta["page"] for document in output["documents"]], output["likely"]


def pyterrier(ranker, question, texts, scores, options):
    frame = pd.DataFrame({"qid": "1", "query": question, "docno": [str(i) for i in range(len(texts))]})
    found = CascadaReranker(ranker, **options)(frame.assign(text=texts, score=scores)).sort_values("rank")
    likely = set(found["likely"])
    return found["docno"].astype(int).tolist(), likely.pop() if likely else False


def agents_tool(ranker, question, texts, scores, options):
    async def rank():
        candidates = [{"text": text, "prior": score} for text, score in zip(texts, scores, strict=True)]
        async with asyncio.timeout(300), McpClient(server_of(ranker)) as client:
            result = await client.call_tool("rank", {"question": question, "candidates": candidates, **options})
            return result.structured_content

    content = asyncio.run(rank())
    return indices(content["items"]), content["likely"]


SERVED = {"own": own, "cohere 1": cohere("/v1/rerank"), "cohere 2": cohere("/v2/rerank")}
SERVED |= {"client": python_client, "async client": async_client}
ADAPTERS = {"LangChain": langchain, "LlamaIndex": llama_index, "Haystack": haystack, "PyTerrier": pyterrier}
ADAPTERS |= {"MCP": agents_tool}


@pytest.mark.parametrize("options", OPTIONS, ids=json.dumps)
def test_everything_answers_with_the_same_order(http, cascade, question, texts, scores, expected, options):
    ranking = expected(options)
    order = [item.index for item in ranking]
    for name, ask in SERVED.items():
        assert ask(http, question, texts, scores, options) == (order, ranking.likely), name
    for name, ask in ADAPTERS.items():
        found, likely = ask(cascade, question, texts, scores, options)
        assert found == order, name
        assert likely == ranking.likely, name


@pytest.mark.parametrize("options", [{}, {"long": "best"}, {"max_tokens": 3}, {"prior": 4.0}, {"min_score": 0.5}])
def test_so_do_those_that_take_strings_only(http, cascade, question, texts, options):
    """The first stage's opinion is then the order."""
    expected = cascade.rank(question, texts, **options)
    body = {"query": question, "texts": texts, **options}
    assert indices(http.post("/rerank", json=body).json()) == [item.index for item in expected]
    rankings = []
    cut = {"long": "best", **options}  # sentence-transformers cuts by default
    model = CrossEncoder(cascade, on_ranking=rankings.append, **cut)
    assert indices(model.rank(question, texts), "corpus_id") == [item.index for item in expected]
    assert rankings[0].likely == expected.likely
    if "min_score" not in options:
        scores = model.predict([(question, text) for text in texts])
        assert np.argsort(-scores, kind="stable").tolist() == [item.index for item in expected]


@pytest.mark.parametrize("build", [CascadaRanker, CascadaReranker, CrossEncoder])
def test_an_unknown_or_wrong_option_is_refused_at_once(build):
    ranker = Ranker.load("bm25")
    with pytest.raises(TypeError, match="colour"):
        build(ranker, colour="red")
    with pytest.raises(ValueError, match="min_score is 3"):
        build(ranker, min_score=3)


@pytest.mark.parametrize("path", ["/v1/rank", "/v1/rerank", "/v2/rerank", "/rerank"])
def test_the_server_ignores_unknown_fields_as_those_of_its_dialects_do(http, question, texts, path):
    body = {"question": question, "query": question, "candidates": texts, "documents": texts, "texts": texts}
    assert http.post(path, json={**body, "colour": "red"}).status_code == 200
