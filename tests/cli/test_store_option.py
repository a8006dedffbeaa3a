"""A decoupled ranker on the command line: documents encoded once, then ranked, measured and tuned from the store."""

import json

import pytest
import torch
from typer.testing import CliRunner

from cascada.cli.main import app
from cascada.encoders.encoder import load_encoder
from cascada.systems.decoupled.folder import save
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape

pytest.importorskip("lmdb")


def run(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory, encoder_folder, words):
    """A folder with a ranker, groups, and the groups' candidates in a store."""
    home = tmp_path_factory.mktemp("decoupled")
    torch.manual_seed(9)
    shape = DecoupledShape(2, (2, 4), max_length=24, question_length=8)
    save(DecoupledRanker(load_encoder(encoder_folder), shape), home / "model", tokenizer=encoder_folder, card="")
    groups = [
        {
            "question": words[place],
            "candidates": [{"text": f"{words[i]} {words[i + place]}", "label": int(i == 3)} for i in range(5)],
        }
        for place in range(3)
    ]
    (home / "groups.jsonl").write_text("".join(json.dumps(group) + "\n" for group in groups))
    (home / "texts.txt").write_text("\n".join(one["text"] for one in groups[1]["candidates"]))
    run("encode", home / "model", home / "groups.jsonl", home / "store", "--units", "candidates", "--form", "fp32")
    return home


def test_rank_reads_the_store_and_ranks_as_without(place, words):
    ask = ("rank", words[1], place / "texts.txt", "--model", place / "model", "--json")
    with_store, without = json.loads(run(*ask, "--store", place / "store")), json.loads(run(*ask))
    for one, other in zip(with_store["items"], without["items"], strict=True):
        assert (one["index"], one["exit"]) == (other["index"], other["exit"])
        assert one["scores"] == pytest.approx(other["scores"], abs=1e-5)
    assert with_store["flops"] < without["flops"]


def test_evaluate_and_tune_take_it_too(place):
    measure = ("evaluate", place / "model", place / "groups.jsonl", "--json")
    with_store, without = json.loads(run(*measure, "--store", place / "store")), json.loads(run(*measure))
    assert with_store["MAP"] == pytest.approx(without["MAP"])
    tune = ("tune", place / "model", place / "groups.jsonl", "--json")
    with_store, without = (json.loads(run(*tune, *store))["front"] for store in (("--store", place / "store"), ()))
    for stored, encoded in zip(with_store, without, strict=True):
        assert (stored["drop"], stored["MAP"]) == (encoded["drop"], encoded["MAP"])
        assert stored["relative_cost"] < encoded["relative_cost"], "the layers below the join are not run"


def test_a_server_takes_a_store_in_one_piece_or_in_shards(place, words):
    from fastapi.testclient import TestClient

    from cascada.cli.serve import app_of
    from cascada.ranking import Ranker
    from cascada.serve import ServerSettings
    from cascada.store import Store

    store = Store.open(place / "store")
    shard = Store.create(
        place / "s" / "shard-00000-of-00001", fingerprint=store.header.fingerprint, width=32, form="fp32"
    )
    texts = (place / "texts.txt").read_text().splitlines()
    shard.put(texts, store.get(texts))
    without = Ranker.load(place / "model").rank(words[1], texts)
    for folder in (place / "store", place / "s"):
        with TestClient(app_of(str(place / "model"), ServerSettings(), store=folder)) as http:
            found = http.post("/v1/rank", json={"question": words[1], "candidates": texts}).json()
        assert [item["index"] for item in found["items"]] == [item.index for item in without]
        assert found["flops"] < without.flops


def test_a_ranker_that_reads_both_together_takes_no_store(place, words):
    result = CliRunner().invoke(app, ["rank", words[1], str(place / "texts.txt"), "--model", "bm25", "--store", "s"])
    assert result.exit_code != 0
    assert "no use for stored encodings" in str(result.exception)
