"""The OpenAPI description is true: whatever it calls for, and whatever it forbids, is answered as it says."""

import schemathesis
from hypothesis import HealthCheck, settings
from loopback import PATIENCE
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

from cascada import Ranker
from cascada.serve import create_app

schema = schemathesis.openapi.from_dict(create_app(Ranker.load("bm25")).openapi())


@schema.include(method="POST").parametrize()
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
def test_no_request_that_is_made_up_from_it_makes_the_server_fail(case, bm25):
    checks = [not_a_server_error, status_code_conformance, content_type_conformance]
    case.call_and_validate(base_url=str(bm25.base_url), checks=checks, timeout=PATIENCE)
