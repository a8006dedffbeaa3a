"""`/v1/rank`: what `Ranker.rank` does, over HTTP."""

import pytest
from loopback import without_seconds


def post(http, **body):
    return http.post("/v1/rank", json=body)


@pytest.fixture
def texts(words):
    return [" ".join(words[i : i + 1 + i % 7]) for i in range(20)]


@pytest.mark.parametrize("options", [{}, {"drop": 0.3}, {"drop": [0.5]}, {"keep": [4]}, {"drop": 0, "top": 3}])
def test_the_response_is_the_rankers_own(cascade_server, cascade, words, texts, options):
    response = post(cascade_server, question=words[5], candidates=texts, **options).json()
    assert without_seconds(response) == without_seconds(cascade.rank(words[5], texts, **options).to_dict())


def test_objects_come_back_whole(bm25):
    candidates = [{"text": "hamlet", "page": 3, "tags": ["a", {"b": None}]}, "rain"]
    items = post(bm25, question="hamlet", candidates=candidates).json()["items"]
    assert items[0]["document"] == candidates[0]


def test_a_deadline_that_has_passed_leaves_the_first_exits_order(cascade_server, words, texts):
    response = post(cascade_server, question=words[5], candidates=texts, deadline_ms=0.001).json()
    assert response["complete"] is False
    assert [stage["candidates"] for stage in response["stages"]] == [20, 0]
    assert {item["exit"] for item in response["items"]} == {2}


def test_drops_can_fit_a_deadline(cascade_server, words, texts):
    response = post(cascade_server, question=words[5], candidates=texts, deadline_ms=20_000, drop="fit")
    assert response.json()["complete"] is True


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"drop": 1.5}, "drop is 1.5; a drop ratio is a number from 0 to below 1."),
        ({"drop": [0.1, 0.1]}, "drop has 2 ratios, but this ranker drops candidates at 1 exits."),
        ({"keep": [0]}, "keep is [0]; it must be a list of whole numbers from 1."),
        ({"drop": 0.3, "keep": [5]}, "drop and keep were both given; give one of them."),
        ({"drop": "fit"}, 'drop="fit" chooses drops to meet deadline_ms, and none was given.'),
        ({"question": " "}, "The question is empty."),
        ({"candidates": [{"id": 1}]}, 'A candidate is a mapping whose "text" is NoneType'),
        ({"top": 0}, "top: Input should be greater than or equal to 1."),
        ({"deadline_ms": -1}, "deadline_ms: Input should be greater than 0."),
    ],
)
def test_a_mistake_is_one_sentence(cascade_server, options, sentence):
    rejected = post(cascade_server, **({"question": "who?", "candidates": ["a"]} | options))
    assert rejected.status_code == 422
    assert rejected.json()["error"]["type"] == "invalid"
    assert rejected.json()["error"]["message"].startswith(sentence)
