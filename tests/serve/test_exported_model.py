"""A server of an exported ranker, which is what runs in production."""

import asyncio
import json

import pytest
from loopback import TIMEOUT, serving, without_seconds

from cascada import Ranker
from cascada.client import AsyncClient
from cascada.systems.export import export


@pytest.fixture(scope="module")
def folder(cascade_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("exported") / "ct"
    export(cascade_folder, out)
    return out


@pytest.fixture(scope="module")
def exported(folder):
    return Ranker.load(folder)


def test_the_response_is_the_rankers_own(exported, words):
    texts = [" ".join(words[i : i + 1 + i % 9]) for i in range(40)]
    with serving(exported) as http:
        response = http.post("/v1/rank", json={"question": words[5], "candidates": texts, "drop": 0.3}).json()
        assert http.get("/ready").json()["exits"] == [2, 4]

        async def at_once():
            async with AsyncClient(str(http.base_url), timeout=TIMEOUT) as client:
                return await asyncio.gather(*(client.rank(words[i], texts, drop=0) for i in range(12)))

        together = asyncio.run(at_once())
    assert without_seconds(response) == without_seconds(exported.rank(words[5], texts, drop=0.3).to_dict())
    for i, ranking in enumerate(together):
        local = {item.index: item.score for item in exported.rank(words[i], texts, drop=0)}
        assert {item.index: item.score for item in ranking} == pytest.approx(
            local, abs=0.02
        )  # int8 scales depend on the batch


def test_a_model_that_was_changed_is_not_served(folder):
    manifest = json.loads((folder / "cascada.json").read_text())
    (folder / "cascada.json").write_text(json.dumps(manifest | {"max_length": 63}))
    with pytest.raises(ValueError, match="SHA-256 differs"):
        Ranker.load(folder)
