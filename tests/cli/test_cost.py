"""`cascada cost`: the paper's arithmetic from the command line."""

import json

import pytest
from typer.testing import CliRunner

from cascada.cli.main import app
from cascada.core.errors import CascadaError

PAPER = ("--layers", "12", "--exits", "4,6,8,10,12", "--candidates", "128")


def run(*arguments):
    result = CliRunner().invoke(app, ["cost", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def as_json(*arguments):
    return json.loads(run(*arguments, "--json"))


CASCADE = {
    "0.3": ([128, 90, 63, 45, 32], 0.633),
    "0.4": ([128, 77, 47, 29, 18], 0.556),
    "0.5": ([128, 64, 32, 16, 8], 0.490),
}
SEQUENTIAL = {"0.3": 1.556, "0.4": 1.208, "0.5": 0.917}


@pytest.mark.parametrize("drop", CASCADE)
def test_survivors_and_costs_are_the_papers(drop):
    survivors, cost = CASCADE[drop]
    found = as_json(*PAPER, "--drop", drop)
    assert found["survivors"] == survivors
    assert round(found["relative_cost"], 3) == cost
    sequential = as_json(*PAPER, "--drop", drop, "--sequential")
    assert sequential["survivors"] == survivors
    assert round(sequential["relative_cost"], 3) == SEQUENTIAL[drop]


def test_stages_add_up():
    found = as_json(*PAPER, "--drop", "0.3")
    assert [stage["layers"] for stage in found["stages"]] == [4, 2, 2, 2, 2]
    assert sum(stage["layer_candidates"] for stage in found["stages"]) == found["layer_candidates"] == 972
    assert sum(stage["share"] for stage in found["stages"]) == pytest.approx(found["relative_cost"])


def test_without_exits_the_default_ones_are_used():
    exits = [stage["exit"] for stage in as_json("--layers", 6, "--drop", 0.5)["stages"]]
    assert exits == [2, 3, 4, 5, 6]


def test_numbers_to_keep():
    assert as_json("--layers", 4, "--exits", "1,2,4", "--keep", "50,5", "--candidates", 100)["survivors"] == [
        100,
        50,
        5,
    ]


def test_a_batch_that_fits():
    fits = as_json(*PAPER, "--drop", "0.3", "--fits", 84)["fits"]
    assert fits["candidates"] >= 128
    assert fits["average_batch"] <= 84
    assert fits["factor"] == fits["candidates"] / 84 > 1.5


def test_operations():
    flops = as_json(*PAPER, "--drop", "0.3", "--tokens", "30,44,60", "--hidden", 768, "--feed-forward", 3072)["flops"]
    assert sum(flops["stages"]) == flops["total"] < flops["full"]
    assert flops["share"] == pytest.approx(0.633, abs=0.01)


def test_the_table_is_aligned_and_summed_up_in_words():
    lines = run(*PAPER, "--drop", "0.3", "--fits", 84, "--tokens", 44).splitlines()
    (first,) = [line for line in lines if line.split()[:1] == ["4"]]
    assert first.split()[:5] == ["4", "4", "128", "512", "0.333"]
    rows = [line for line in lines if line.split() and line.split()[0] in ("4", "6", "8", "10", "12", "all")]
    assert len({len(row) for row in rows}) == 1
    assert any(line.startswith("relative cost 0.633 (-36.7%): 972 of 1,536") for line in lines)
    assert any("plain batch of 84" in line for line in lines)


def test_below_the_join_nothing_is_counted():
    found = json.loads(run("--join", 6, "--exits", "6,8,12", "--keep", "20,5", "--candidates", 100, "--json"))
    assert [stage["layers"] for stage in found["stages"]] == [0, 2, 4]
    assert (found["layer_candidates"], found["full_layer_candidates"]) == (2 * 20 + 4 * 5, 600)
    assert json.loads(run("--layers", 13, "--join", 12, "--json"))["relative_cost"] == 1


def test_exit_0_costs_nothing_and_saves_layers():
    found = json.loads(run("--exits", "0,4,6,8,10,12", "--drop", "0.5,0,0,0,0", "--json"))
    assert found["survivors"] == [128, 64, 64, 64, 64, 64]
    assert found["relative_cost"] == 0.5
    assert found["stages"][0] == {"exit": 0, "layers": 0, "candidates": 128, "layer_candidates": 0, "share": 0.0}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--exits", "4,6"], "the last exit must be the last layer, 12"),
        (["--exits", "8,4,12"], "in ascending order"),
        (["--join", "6", "--exits", "4,12"], "from 6 on"),
        (["--join", "6", "--exits", "5,12"], "from 6 on"),
        (["--join", "12", "--exits", "12"], "needs an exit above it"),
        (["--join", "12"], "--join 12: the last exit must be the last layer"),
        (["--join", "6", "--tokens", "40"], "--tokens counts whole layers"),
        (["--join", "6", "--sequential"], "cannot be combined with a sequential ranker"),
        (["--join", "6", "--exits", "6,12", "--fits", "8"], "no limit on the number of candidates"),
        (["--exits", "four"], "--exits four: expected whole numbers separated by commas"),
        (["--drop", "1"], "drop"),
        (["--drop", "fit"], "drop"),
        (["--drop", "0.1,0.2"], "drop has 2 ratios"),
        (["--drop", "0.1", "--keep", "4,3,2,1"], "both given"),
        (["--keep", "4,3,2,x"], "--keep 4,3,2,x: expected whole numbers"),
        (["--keep", "0,0,0,0"], "keep is"),
        (["--tokens", "0"], "at least 1 token"),
        (["--tokens", "many"], "--tokens many"),
    ],
)
def test_a_mistake_is_one_sentence(arguments, sentence):
    with pytest.raises(CascadaError, match=sentence) as caught:
        run(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", ["--layers", "--candidates", "--fits", "--hidden", "--feed-forward"])
def test_numbers_start_at_1(option):
    result = CliRunner().invoke(app, ["cost", option, "0"])
    assert result.exit_code == 2
