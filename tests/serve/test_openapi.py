"""The OpenAPI description is true: valid and invalid requests made from it get the responses that it promises."""

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from loopback import TIMEOUT
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

from cascada import Ranker
from cascada.serve import create_app

schema = schemathesis.openapi.from_dict(create_app(Ranker.load("bm25")).openapi())


@schema.include(method="POST").parametrize()
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
def test_no_generated_request_makes_the_server_fail(case, bm25):
    checks = [not_a_server_error, status_code_conformance, content_type_conformance]
    case.call_and_validate(base_url=str(bm25.base_url), checks=checks, timeout=TIMEOUT)


def test_every_post_has_an_example_of_its_request_response_and_errors(bm25):
    paths = bm25.get("/openapi.json").json()["paths"]
    posts = {path: methods["post"] for path, methods in paths.items() if "post" in methods}
    assert set(posts) == {"/v1/rank", "/v1/prune", "/v1/ask", "/v1/rerank", "/v2/rerank", "/rerank"}
    for path, post in posts.items():
        body = post["requestBody"]["content"]["application/json"]
        assert set(body["example"]) <= set(body["schema"]["properties"])
        assert bm25.post(path, json=body["example"]).status_code == (404 if path == "/v1/ask" else 200)
        for code in ("200", "400", "401", "413", "422", "429"):
            assert post["responses"][code]["content"]["application/json"]["example"]


@pytest.mark.parametrize("path", ["/v1/rank", "/v1/prune", "/v1/rerank", "/rerank"])
def test_the_example_of_a_response_has_the_keys_of_a_real_one(bm25, path):
    post = bm25.get("/openapi.json").json()["paths"][path]["post"]
    response = bm25.post(path, json=post["requestBody"]["content"]["application/json"]["example"]).json()
    example = post["responses"]["200"]["content"]["application/json"]["example"]
    if isinstance(example, list):
        response, example = response[0], example[0]
    assert set(response) == set(example)
