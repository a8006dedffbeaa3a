"""`cascada bench` and `cascada evaluate` take somebody's own cross-encoder as it comes, and with exits."""

import json

import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

from cascada.bench.peer_folder import write_peer
from cascada.cli.main import app
from cascada.ranking.plan_file import write_plan
from cascada.systems.cross_encoder.folder import load, save, with_added_exits
from cascada.systems.cross_encoder.shape import ExitHead


def run(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def with_exits(tmp_path_factory, cross_encoder_folder):
    """The cross-encoder with exits and a saved plan, as `cascada accelerate` leaves it."""
    folder = tmp_path_factory.mktemp("accelerated") / "model"
    network = with_added_exits(load(cross_encoder_folder), (0, 2, 4), ExitHead("both", width=8))
    save(network, folder, tokenizer=cross_encoder_folder, card="# With exits\n")
    write_plan(folder, (6, 3), (0, 2, 4), {})
    return folder


def test_a_cross_encoder_as_it_came_is_measured_whole(cross_encoder_folder):
    found = run("bench", cross_encoder_folder, "--quick", "--engines", "torch,int8", "--candidates", "4", "--json")
    rows = {row["engine"]: row for row in found["engines"]}
    assert "cascada int8 α=0.3" not in rows, "it has a single exit, where nothing is dropped"
    assert "cascada int8 plan" not in rows
    for name in ("cascada torch α=0", "cascada int8 α=0", "sentence-transformers torch fp32"):
        assert rows[name]["problem"] is None
        assert [cell["candidates"] for cell in rows[name]["cells"]] == [4]
    assert found["model"]["exits"] == [4]


def test_one_with_exits_is_measured_whole_and_by_its_plan_in_one_table(with_exits):
    found = run("bench", with_exits, "--quick", "--engines", "cascada int8", "--candidates", "12", "--json")
    cells = {row["engine"]: row["cells"][0] for row in found["engines"]}
    assert cells.keys() == {"cascada int8 α=0", "cascada int8 α=0.3", "cascada int8 α=0.5", "cascada int8 plan"}
    assert cells["cascada int8 plan"]["flops"] < cells["cascada int8 α=0"]["flops"]


def test_peers_get_the_model_as_it_came(with_exits, cross_encoder_folder, tmp_path):
    write_peer(with_exits, tmp_path / "peer")
    theirs, own = (load_file(folder / "model.safetensors") for folder in (tmp_path / "peer", cross_encoder_folder))
    assert {name: weight.tobytes() for name, weight in theirs.items()} == {
        name: weight.tobytes() for name, weight in own.items()
    }


def test_before_and_after_are_evaluated_against_each_other(with_exits, cross_encoder_folder, tmp_path, words):
    candidates = [{"text": " ".join(words[i : i + 5]), "label": int(i == 3)} for i in range(12)]
    rows = [{"question": words[number], "candidates": candidates} for number in range(3)]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data, before = tmp_path / "test.jsonl", tmp_path / "before.trec"
    whole = run("evaluate", cross_encoder_folder, data, "--run", before, "--json")
    same = run("evaluate", with_exits, data, "--drop", "0", "--against", before, "--json")
    assert same["MAP"] == whole["MAP"]
    assert run("evaluate", with_exits, data, "--against", before, "--json")["relative_cost"] < 1
