"""`/v1/rank`: what `Ranker.rank` does, over HTTP."""

import pytest
from loopback import without_seconds

from cascada.serve import Settings


def ask(http, **body):
    return http.post("/v1/rank", json=body)


@pytest.fixture
def texts(words):
    return [" ".join(words[i : i + 1 + i % 7]) for i in range(20)]


@pytest.mark.parametrize("how", [{}, {"drop": 0.3}, {"drop": [0.5]}, {"keep": [4]}, {"drop": 0, "top": 3}])
def test_the_answer_is_the_rankers_own(cascade_server, cascade, words, texts, how):
    found = ask(cascade_server, question=words[5], candidates=texts, **how).json()
    assert without_seconds(found) == without_seconds(cascade.rank(words[5], texts, **how).to_dict())


def test_objects_come_back_whole(bm25):
    candidates = [{"text": "hamlet", "page": 3, "tags": ["a", {"b": None}]}, "rain"]
    items = ask(bm25, question="hamlet", candidates=candidates).json()["items"]
    assert items[0]["document"] == candidates[0]


def test_a_deadline_is_met_with_the_first_exits_order(cascade_server, words, texts):
    found = ask(cascade_server, question=words[5], candidates=texts, deadline_ms=0.001).json()
    assert found["complete"] is False
    assert [stage["candidates"] for stage in found["stages"]] == [20, 0]
    assert {item["exit"] for item in found["items"]} == {2}


def test_drops_can_fit_a_deadline(cascade_server, words, texts):
    found = ask(cascade_server, question=words[5], candidates=texts, deadline_ms=20_000, drop="fit")
    assert found.json()["complete"] is True


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"drop": 1.5}, "drop is 1.5; a drop ratio is a number from 0 to below 1."),
        ({"drop": [0.1, 0.1]}, "drop has 2 ratios, but this ranker drops candidates at 1 exits."),
        ({"keep": [0]}, "keep is [0]; it must be a list of whole numbers from 1."),
        ({"drop": 0.3, "keep": [5]}, "drop and keep were both given; an exit goes by one of them."),
        ({"drop": "fit"}, 'drop is "fit", which chooses drops to meet deadline_ms, and none was given.'),
        ({"question": " "}, "The question is empty."),
        ({"candidates": [{"id": 1}]}, 'A candidate is a mapping whose "text" is NoneType'),
        ({"top": 0}, "top: Input should be greater than or equal to 1."),
        ({"deadline_ms": -1}, "deadline_ms: Input should be greater than 0."),
    ],
)
def test_a_mistake_is_one_sentence(cascade_server, how, sentence):
    refused = ask(cascade_server, **({"question": "who?", "candidates": ["a"]} | how))
    assert refused.status_code == 422
    assert refused.json()["error"]["type"] == "invalid"
    assert refused.json()["error"]["message"].startswith(sentence)


def test_settings_that_make_no_sense_are_told():
    with pytest.raises(ValueError, match=r"queue is 0; it must be a number above 0\."):
        Settings(queue=0)
