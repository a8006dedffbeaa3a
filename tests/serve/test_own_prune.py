"""`/v1/prune`: what `Ranker.prune` does, over HTTP; and the documents of an index by their ids."""

import asyncio
import json

import pytest
from loopback import as_json, serving

from cascada import Ranker
from cascada.client import AsyncClient, Client, ServerError, _pruned
from cascada.search import Asker, Index, retriever_of
from cascada.serve import ServerSettings

QUESTION = "When was the Eiffel Tower completed?"
PASSAGES = [
    "Beat the eggs with sugar. Bake it for half an hour.",
    {"text": "The Eiffel Tower is in Paris. It was completed in 1889. The city has many bakeries.", "id": 7},
]


@pytest.fixture(scope="module")
def mini():
    return Ranker.load()


@pytest.fixture(scope="module")
def mini_server(mini, tmp_path_factory):
    """The bundled model with an index of two documents."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "paris.txt").write_text("Paris is a city.\n\nThe Eiffel Tower was completed in 1889.\n")
    (folder / "secret.txt").write_text("No part of the index.")
    Index(folder / "index", create=True).update([folder / "paris.txt"])
    asker = Asker(retriever_of([], index=folder / "index"), mini)
    with serving(mini, ServerSettings(max_documents=3, max_document=3000), asker=asker) as http:
        yield http


@pytest.mark.parametrize(
    "options", [{}, {"min_score": 0.3}, {"min_relative_score": 0.9}, {"budget": 12}, {"keep": [2]}]
)
def test_the_response_and_the_clients_are_the_rankers_own(mini_server, mini, options):
    local = mini.prune(QUESTION, PASSAGES, **options)
    response = mini_server.post("/v1/prune", json={"question": QUESTION, "passages": PASSAGES, **options})
    assert response.json() == json.loads(json.dumps(local.to_dict()))

    async def prune_async():
        async with AsyncClient(str(mini_server.base_url)) as client:
            return await client.prune(QUESTION, PASSAGES, **options)

    with Client(str(mini_server.base_url)) as client:
        assert client.prune(QUESTION, PASSAGES, **options) == local
    assert asyncio.run(prune_async()) == local


def test_blank_passages_are_pruned_to_nothing(mini_server):
    response = mini_server.post("/v1/prune", json={"question": "who?", "passages": ["", " "]}).json()
    assert [passage["text"] for passage in response["passages"]] == ["", ""]
    assert response["likely"] is False


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"passages": []}, 400, "There are no documents to rank."),
        ({"passages": ["a"] * 4}, 413, "There are 4 documents; the limit is 3."),
        ({"passages": ["a" * 4000]}, 413, "Document 0 has 4,000 characters; the limit is 3,000."),
        ({"passages": ["A dog barks. " * 200]}, 413, "The passages have 200 sentences; the limit is 30."),
        ({"passages": "text"}, 422, "passages: Input should be a valid list."),
        ({"passages": [3]}, 422, "passages.0"),
        ({"passages": [{"id": 3}]}, 422, 'A candidate is a mapping whose "text" is NoneType'),
        ({"question": ""}, 422, "The question is empty."),
        ({"min_score": 7}, 422, "min_score: Input should be less than or equal to 1."),
        ({"budget": 2.5}, 422, "budget: Input should be a valid integer"),
        ({"language": "../en"}, 422, "language: String should match pattern"),
        ({"treshold": 0.5}, 422, "treshold: Extra inputs are not permitted."),
        ({"passages": ["a \ud800"]}, 422, "Document 0 has an unpaired surrogate at character 2."),
    ],
)
def test_a_mistake_is_one_sentence(mini_server, body, status, sentence):
    content = json.dumps({"question": "who?", "passages": ["a"]} | body).encode()
    rejected = mini_server.post("/v1/prune", **as_json(content))
    assert rejected.status_code == status
    message = rejected.json()["error"]["message"]
    assert message.startswith(sentence)
    assert message.endswith(".")


def test_a_document_of_the_index_is_read_by_its_id_and_nothing_else_is(mini_server):
    (answer,) = mini_server.post("/v1/ask", json={"question": QUESTION, "top": 1}).json()["answers"]
    document = mini_server.get(f"/v1/documents/{answer['document_id']}").json()
    assert document["name"] == "paris.txt"
    assert [passage["text"] for passage in document["passages"]] == [
        "Paris is a city.",
        "The Eiffel Tower was completed in 1889.",
    ]
    folder = answer["document"].removesuffix("paris.txt")
    others = ("0" * 32, "paris.txt", f"{folder}secret.txt", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "%00", "*")
    for path in others:
        missing = mini_server.get(f"/v1/documents/{path}")
        assert missing.status_code == 404
        assert folder not in missing.text


def test_without_an_index_there_are_no_documents(bm25):
    assert bm25.get(f"/v1/documents/{'0' * 32}").status_code == 404


def test_a_response_that_holds_no_passages_is_an_error():
    with pytest.raises(ServerError, match="holds no pruned passages: KeyError 'sentences'"):
        _pruned("q", ["a"], {"passages": [{"index": 0}]})
