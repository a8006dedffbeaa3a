"""`cascada tune`, as a user runs it."""

import json
import re
import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from cascada import Ranker
from cascada.cli.main import app
from cascada.core.errors import CascadaError
from cascada.ranking.plan import Margin
from cascada.serve.app import create_app

PNG = b"\x89PNG"


def cascada(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def tune(*arguments: object) -> dict:
    return json.loads(cascada("tune", *arguments, "--json"))


@pytest.fixture
def model(tmp_path, cascade_folder) -> Path:
    """A copy, since a plan will be saved into it."""
    return shutil.copytree(cascade_folder, tmp_path / "model")


@pytest.fixture
def data(tmp_path, words) -> Path:
    """Twelve questions with ten candidates."""
    groups = [
        {
            "id": f"q{number}",
            "question": words[number],
            "candidates": [
                {"text": f"{words[9 * place + number]} {words[place]}", "label": int(place % 4 == number % 4)}
                for place in range(10)
            ],
        }
        for number in range(12)
    ]
    path = tmp_path / "dev.jsonl"
    path.write_text("\n".join(map(json.dumps, groups)) + "\n")
    return path


@pytest.fixture
def scores(tmp_path, model, data) -> Path:
    """Every exit's scores, from a first tuning."""
    path = tmp_path / "scores.npz"
    tune(model, data, "--scores", path)
    return path


def test_every_figure_is_the_one_that_evaluate_finds(model, data):
    found = tune(model, data)
    assert (found["settings"], found["questions"], found["measure"]) == (7, 12, "MAP")
    for row in found["front"]:
        measured = json.loads(cascada("evaluate", model, data, "--drop", row["drop"][0], "--json"))
        for name in ("relative_cost", "MAP", "MRR", "nDCG@10", "P@1"):
            assert row[name] == pytest.approx(measured[name], abs=1e-12)


def test_tuning_again_from_the_scores_needs_no_model(model, data, scores):
    before = tune(model, data, "--budget", 0.8)
    (model / "tokenizer_config.json").unlink()
    (model / "README.md").unlink()
    assert tune(model, data, "--budget", 0.8, "--scores", scores) == before


def test_scores_of_another_model_are_rejected(model, data, scores):
    with (model / "model.safetensors").open("ab") as file:
        file.write(b"more")
    with pytest.raises(CascadaError, match="another model"):
        tune(model, data, "--scores", scores)


def test_grids(model, data, scores):
    assert tune(model, data, "--scores", scores, "--grid", "paper", "--budget", 0.9)["settings"] == 6
    own = tune(model, data, "--scores", scores, "--ratios", "0,0.25,0.5", "--budget", 0.8)
    assert own["settings"] == 3
    assert own["chosen"]["drop"] in ([0.25], [0.5])


def test_the_table_says_what_was_chosen_how_and_what_to_expect(model, data, scores):
    shown = cascada("tune", model, data, "--scores", scores, "--budget", 0.8)
    assert "12 questions, exits 2 4, 7 settings" in shown
    assert "the best MAP at a relative cost of at most 0.8" in shown
    assert "What to expect: on the 6 questions that it was not chosen on" in shown.replace("\n", " ")


def test_a_saved_plan_is_what_the_model_does_from_then_on(model, data, scores):
    chosen = tune(model, data, "--scores", scores, "--budget", 0.75, "--save")["chosen"]
    measured = json.loads(cascada("evaluate", model, data, "--json"))
    assert measured["relative_cost"] == pytest.approx(chosen["relative_cost"])
    assert measured["MAP"] == pytest.approx(chosen["MAP"], abs=1e-12)
    texts = [str(number) for number in range(10)]
    ranker = Ranker.load(model)
    assert [float(rule) for rule in ranker.plan] == chosen["drop"]
    assert ranker.rank("who?", texts).relative_cost < 1
    assert ranker.rank("who?", texts, drop=0).relative_cost == 1
    about = json.loads((model / "plan.json").read_text())["about"]
    assert about["how"] == chosen["how"]
    assert about["data"].endswith("dev.jsonl (clean)")
    assert about["checked_on"]["questions"] == 6


def test_tuning_ignores_a_saved_plan(model, data, scores):
    before = tune(model, data, "--budget", 0.75, "--save")
    assert tune(model, data, "--budget", 0.75) == before


def test_a_plan_can_be_forgotten(model, data, scores):
    tune(model, data, "--scores", scores, "--budget", 0.75, "--save")
    assert "drops nothing" in cascada("tune", model, "--forget")
    assert Ranker.load(model).rank("who?", ["a", "b", "c", "d"]).relative_cost == 1
    assert "no saved plan" in cascada("tune", model, "--forget")


def test_a_plan_for_other_exits_stops_the_model_and_can_be_forgotten(model):
    (model / "plan.json").write_text('{"format": 1, "exits": [2, 3, 4], "keep": [5, 4]}')
    with pytest.raises(CascadaError, match="for exits 2, 3, 4"):
        Ranker.load(model)
    cascada("tune", model, "--forget")
    assert Ranker.load(model).exits == (2, 4)


def test_keep_counts_with_a_guarantee(model, data, scores):
    chosen = tune(model, data, "--scores", scores, "--keep-best", 0.6, "--confidence", 0.9, "--save")["chosen"]
    certificate = chosen["certificate"]
    assert (certificate["questions"], certificate["at_least"], certificate["confidence"]) == (6, 0.6, 0.9)
    assert Ranker.load(model).plan == tuple(chosen["keep"])
    assert "of 6 held-out questions" in cascada(
        "tune", model, data, "--scores", scores, "--keep-best", 0.6, "--confidence", 0.9
    ).replace("\n", " ")


def test_margins_with_a_guarantee_are_saved_and_served(model, data, scores):
    wanted = ["--scores", scores, "--keep-best", 0.6, "--confidence", 0.9, "--margins"]
    chosen = tune(model, data, *wanted, "--at-least", 3, "--save")["chosen"]
    assert chosen["certificate"]["questions"] == 6
    assert chosen["relative_cost"] <= chosen["relative_cost_p95"] <= 1
    assert Ranker.load(model).plan == tuple(Margin(Decimal(str(margin)), 3) for margin in chosen["margin"])
    measured = json.loads(cascada("evaluate", model, data, "--json"))
    for name in ("relative_cost", "MAP", "P@1"):
        assert measured[name] == pytest.approx(chosen[name])
    texts = [f"bade {n}" for n in range(9)]
    with TestClient(create_app(Ranker.load(model))) as http:
        served = http.post("/v1/rank", json={"question": "bada", "candidates": texts}).json()
    assert [item["exit"] for item in served["items"]] == [item.exit for item in Ranker.load(model).rank("bada", texts)]


def test_the_picture(model, data, scores, tmp_path):
    tune(model, data, "--scores", scores, "--picture", tmp_path / "front.png")
    assert (tmp_path / "front.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--budget", 0.5, "--loss", 0.1], "give one of them"),
        (["--budget", 0.1], "cheapest of this grid costs"),
        (["--measure", "MAPP"], "MAPP"),
        (["--ratios", "much"], "--ratios much"),
        (["--ratios", "1.5"], "1.5"),
        (["--picture", "front.doc"], ".png"),
        (["--picture", "nowhere/front.png"], "there is no folder"),
        (["--scores", "nowhere/scores.npz"], "there is no folder"),
        (["--keep-best", 0.95], "at least 59 held-out questions"),
        (["--keep-best", 1], "between 0 and 1"),
        (["--margins"], "give keep_best too"),
        (["--split", "dev"], "is a file"),
    ],
)
def test_a_mistake_is_one_sentence(model, data, scores, arguments, sentence):
    kept = [] if "--scores" in arguments else ["--scores", scores]
    with pytest.raises(CascadaError, match=sentence) as caught:
        tune(model, data, *kept, *arguments)
    assert "\n" not in str(caught.value)


def test_a_ranker_with_one_exit_has_nothing_to_tune(ranker_folder, data):
    with pytest.raises(CascadaError, match="nothing to tune"):
        tune(ranker_folder, data)


def test_only_a_rankers_folder_can_keep_a_plan(data):
    with pytest.raises(CascadaError, match="There is no folder bm25"):
        tune("bm25", data, "--save")


@pytest.fixture
def with_exit_zero(model, words) -> Path:
    """The same ranker with exit 0 in front."""
    (model.parent / "texts.txt").write_text("\n".join(words))
    folder = model.parent / "with-exit-zero"
    cascada("cut", model, folder, "--exits", "0,2,4", "--texts", model.parent / "texts.txt")
    return folder


def test_bm25_before_exit_0_is_the_start(with_exit_zero, data, tmp_path):
    ranker, scores, picture = f"bm25+{with_exit_zero}", tmp_path / "bm25.npz", tmp_path / "front.svg"
    found = tune(ranker, data, "--ratios", "0,0.5", "--budget", 1, "--scores", scores, "--picture", picture)
    assert [row["exit"] for row in found["single_exits"]] == ["start", 0, 2, 4]
    assert {"start drops 0.5", "front without exit 0"} <= set(re.findall("<!-- (.*?) -->", picture.read_text()))
    for row in found["front"]:
        drop = ",".join(map(str, row["drop"]))
        measured = json.loads(cascada("evaluate", ranker, data, "--drop", drop, "--json"))
        assert row["relative_cost"] == pytest.approx(measured["relative_cost"])
    assert tune(ranker, data, "--ratios", "0,0.5", "--budget", 1, "--scores", scores) == found


def test_the_default_grid_of_bm25_and_of_exit_0_is_the_same_and_bm25_is_not_called_so(model, data, tmp_path):
    found = tune(f"bm25+{model}", data, "--budget", 0.3, "--picture", tmp_path / "front.svg")
    assert (found["single_exits"][0]["exit"], found["settings"]) == ("start", 49)
    assert "exit 0" not in (tmp_path / "front.svg").read_text()


def test_the_same_ranker_twice_has_exits_of_the_same_name(model, data):
    with pytest.raises(CascadaError, match=r"same name \(2, 4, 2, 4\), so they cannot be tuned"):
        tune(f"{model}+{model}", data)


def test_the_plan_of_a_ranker_with_exit_0_is_saved(with_exit_zero, data):
    drop = tune(with_exit_zero, data, "--budget", 0.5, "--save")["chosen"]["drop"]
    saved = json.loads((with_exit_zero / "plan.json").read_text())
    assert (saved["exits"], [float(ratio) for ratio in saved["drop"]]) == ([0, 2, 4], drop)


def test_the_data_has_to_be_named(model):
    with pytest.raises(CascadaError, match="Name the data"):
        tune(model)


def test_short_lists_are_left_alone_if_asked(model, data):
    chosen = tune(model, data, "--ratios", "0.5", "--budget", 1, "--at-least", 10, "--save")["chosen"]
    assert (chosen["drop"], chosen["at_least"], chosen["relative_cost"]) == ([0.5], [10], 1)
    ranker = Ranker.load(model)
    assert [stage.candidates for stage in ranker.rank("bada", [f"bade {n}" for n in range(10)]).stages] == [10, 10]
    assert [stage.candidates for stage in ranker.rank("bada", [f"bade {n}" for n in range(40)]).stages] == [40, 20]
    with_text = cascada("tune", model, data, "--ratios", "0.5", "--budget", 1, "--at-least", 10)
    assert "drop 0.5 (at least 10 stay)" in with_text
    for wrong, said in (("10,5,2", "at_least has 3 numbers"), ("ten", "--at-least ten: expected whole numbers")):
        with pytest.raises(CascadaError, match=said):
            tune(model, data, "--at-least", wrong)
    with pytest.raises(CascadaError, match="with keep_best, it is one number"):
        tune(model, data, "--keep-best", 0.6, "--confidence", 0.9, "--at-least", "10,5")
