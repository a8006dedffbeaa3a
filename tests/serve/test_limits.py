"""How large a request may be."""

import pytest
from loopback import BODIES, as_json, message_of, serving

from cascada import Ranker
from cascada.serve import ServerSettings


@pytest.fixture(scope="module")
def narrow():
    """A server with small limits."""
    limits = ServerSettings(max_body=2000, max_documents=3, max_document=50, max_question=20)
    with serving(Ranker.load("bm25"), limits) as http:
        yield http


def body_for(path, question="who?", documents=("a",)):
    question_key, documents_key = list(BODIES[path])[:2]
    return {question_key: question, documents_key: list(documents)}


@pytest.mark.parametrize(
    ("path", "change", "sentence"),
    [
        ("/v1/rank", {"documents": ["a"] * 4}, "There are 4 documents; the limit is 3."),
        ("/v1/rerank", {"documents": ["a", "b" * 51]}, "Document 1 has 51 characters; the limit is 50."),
        ("/v2/rerank", {"question": "q" * 21}, "The question has 21 characters; the limit is 20."),
        ("/rerank", {"documents": ["b" * 2000]}, "The body is larger than 2,000 bytes, the limit."),
    ],
    ids=["documents", "document", "question", "body"],
)
def test_what_is_over_a_limit_is_rejected_in_a_sentence(narrow, path, change, sentence):
    rejected = narrow.post(path, json=body_for(path, **change))
    assert rejected.status_code == 413
    assert message_of(path, rejected) == sentence


@pytest.mark.parametrize("path", BODIES)
def test_what_is_at_a_limit_is_ranked(narrow, path):
    body = body_for(path, question="q" * 20, documents=["b" * 50] * 3)
    assert narrow.post(path, json=body).status_code == 200


def test_a_body_without_a_declared_length_is_cut_off_at_the_limit(narrow):
    endless = (b" " * 1000 for _ in range(100))
    assert narrow.post("/v1/rank", **as_json(endless)).status_code == 413


def test_a_limit_that_is_no_positive_number_is_rejected():
    with pytest.raises(ValueError, match=r"queue is 0; it must be a number above 0\."):
        ServerSettings(queue=0)
