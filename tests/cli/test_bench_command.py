"""`cascada bench`."""

import json
import re

import pytest
from typer.testing import CliRunner

from cascada.bench import picture
from cascada.cli.main import app
from cascada.core.errors import CascadaError
from cascada.systems.export import export


def run(*arguments):
    return CliRunner().invoke(app, ["bench", *map(str, arguments)])


@pytest.fixture(scope="module")
def measured(tmp_path_factory, cascade_folder):
    """A run on an exported ranker: it needs no torch, and peers have no part in it."""
    home = tmp_path_factory.mktemp("bench-command")
    export(cascade_folder, home / "exported")
    done = run(home / "exported", "--quick", "--engines", "int8", "--json")
    assert done.exit_code == 0, done.output
    (home / "results.json").write_text(done.stdout)
    return home / "results.json", done


def test_a_run_measures_rankings_starts_sizes_and_the_peak(measured):
    found = json.loads(measured[0].read_text())
    rows = {row["engine"]: row for row in found["engines"]}
    for drop in ("0", "0.3", "0.5"):
        assert [cell["candidates"] for cell in rows[f"cascada int8 α={drop}"]["cells"]] == [4, 12]
    assert rows["sentence-transformers ONNX int8"]["problem"] == "needs the trained ranker"
    assert found["start"].keys() == {"import cascada", "cascada rank"}
    assert found["installed"]["cascada"]["distributions"]["numpy"] > 1_000_000
    assert found["int8_peak"]["all cores"]["gops"] > 0
    assert found["model"]["exits"] == [2, 4]
    assert found["machine"]["versions"]["onnxruntime"]


def test_start_up_times_and_sizes_can_be_left_out(measured):
    short = ["--candidates", 2, "--repeats", 1, "--starts", 0, "--engines", "int8 α=0.5", "--json"]
    done = run(measured[0].parent / "exported", *short)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout).keys().isdisjoint({"start", "installed", "int8_peak"})


def test_progress_has_a_line_for_each_cell(measured):
    assert re.search(r"cascada int8 α=0\.3, 12 candidates: \d+\.\d{3} s", measured[1].stderr)


def test_results_are_shown_again_without_measuring(measured, tmp_path):
    done = run("--from", measured[0], "--markdown", "--picture", tmp_path / "speed.png")
    assert done.exit_code == 0, done.output
    assert "| cascada int8 α=0.5 |" in done.stdout
    assert (tmp_path / "speed.png").stat().st_size > 10_000
    assert "cascada int8 α=0.5" in run("--from", measured[0]).stdout


@pytest.fixture
def data(tmp_path, words):
    """Four questions with eight candidates each."""
    lines = [
        {
            "id": f"q{number}",
            "question": words[number],
            "candidates": [
                {
                    "id": f"{number}-{place}",
                    "text": f"{words[place]} {words[9 * place + number]}",
                    "label": place % 3 == 0,
                }
                for place in range(8)
            ],
        }
        for number in range(4)
    ]
    (tmp_path / "dev.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    return tmp_path / "dev.jsonl"


def test_with_data_every_row_has_its_quality_and_a_plan_of_ones_own_is_a_row(measured, data, tmp_path):
    exported = measured[0].parent / "exported"
    (tmp_path / "results.json").write_text(
        run(exported, data, "--quick", "--engines", "int8 α=0", "--drop", "0.5", "--json").stdout
    )
    found = json.loads((tmp_path / "results.json").read_text())
    rows = {row["engine"]: row for row in found["engines"]}
    evaluated = CliRunner().invoke(app, ["evaluate", str(exported), str(data), "--drop", "0.5", "--json"])
    assert rows["cascada int8, drop 0.5"]["quality"]["MAP"] == pytest.approx(json.loads(evaluated.stdout)["MAP"])
    assert found["quality"]["questions"] == 4
    assert found["texts"]["lists"] == 2
    assert [cell["ranked"] for cell in rows["cascada int8 α=0"]["cells"]] == [8]
    shown = run("--from", tmp_path / "results.json", "--markdown", "--picture", tmp_path / "quality.png").stdout
    assert re.search(
        r"MAP on \S*dev\S* .*\(4 questions, 8 candidates on average\), and mean seconds on the lists as they are", shown
    )
    assert (tmp_path / "quality.png").stat().st_size > 10_000


def test_plans_that_are_given_twice_are_one_row(measured, data):
    arguments = ["--quick", "--engines", "cascada int8 α=0", "--drop", "0.5", "--drop", "0.50", "--json"]
    done = run(measured[0].parent / "exported", data, *arguments)
    assert done.exit_code == 0, done.output
    names = [row["engine"] for row in json.loads(done.stdout)["engines"]]
    assert names == ["cascada int8 α=0", "cascada int8, drop 0.5"]


def test_the_number_of_lists_is_that_of_the_lists_that_were_timed(measured, data, tmp_path):
    short = ["--repeats", 4, "--seconds", 0, "--starts", 0, "--engines", "cascada int8 α=0", "--json"]
    done = run(measured[0].parent / "exported", data, *short)
    found = json.loads(done.stdout)
    assert [len(cell["seconds"]) for cell in found["engines"][0]["cells"]] == [3]
    assert found["texts"]["lists"] == 3
    (tmp_path / "results.json").write_text(done.stdout)
    assert "over 3 lists of the data" in run("--from", tmp_path / "results.json", "--markdown").stdout


def test_the_bundled_models_own_plan_is_a_row_under_its_name():
    arguments = ["--engines", "cascada int8 α=0.5", "--candidates", 2, "--repeats", 1, "--starts", 0, "--json"]
    done = run("cascada-mini", *arguments)
    assert done.exit_code == 0, done.output
    rows = {row["engine"]: row for row in json.loads(done.stdout)["engines"]}
    assert len(rows["cascada int8, own plan"]["cells"]) == 1


def test_the_tables_are_printed_before_a_picture_that_fails(measured, tmp_path, monkeypatch):
    def fails(results, path):
        raise CascadaError("There is no space left.")

    monkeypatch.setattr(picture, "draw", fails)
    done = run("--from", measured[0], "--markdown", "--picture", tmp_path / "speed.png")
    assert "no space left" in str(done.exception)
    assert "| cascada int8 α=0.5 |" in done.stdout


def test_a_list_of_results_that_was_printed_can_be_read_again(measured, tmp_path):
    several = run("--from", measured[0], "--from", measured[0], "--json").stdout
    (tmp_path / "several.json").write_text(several)
    shown = run("--from", tmp_path / "several.json", "--markdown").stdout
    assert shown.count("| cascada int8 α=0.5 | ") == 2 * run("--from", measured[0], "--markdown").stdout.count(
        "| cascada int8 α=0.5 | "
    )
    refused = run("--from", tmp_path / "several.json", "--picture", tmp_path / "speed.png")
    assert "--picture plots the results of one run" in str(refused.exception)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--candidates", 400], "--candidates 400: the 4 questions of "),
        (["--drop", "0.5,0.5"], "drop has 2 ratios, but this ranker drops candidates at 1 exits."),
        (["--drop", "1.5"], "a drop ratio is a number from 0 to below 1"),
        (["--picture", "nowhere/speed.png"], "there is no folder nowhere"),
        (["--picture", "speed.doc"], "its name must end in .png"),
    ],
)
def test_a_mistake_is_found_before_anything_is_measured(measured, data, arguments, sentence):
    done = run(measured[0].parent / "exported", data, *arguments)
    assert isinstance(done.exception, CascadaError)
    assert sentence in str(done.exception)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("option", "value"), [("--split", "dev"), ("--qrels", "qrels.txt"), ("--measure", "MAP"), ("--questions", 50)]
)
def test_options_of_the_data_are_refused_without_data(option, value):
    problem = run("--quick", option, value).exception
    assert isinstance(problem, CascadaError)
    assert f"{option} is for measuring quality on data" in str(problem)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--shape", "big"], "--shape big: expected layers and width, such as 12x384."),
        (["--shape", "2x25"], "the width must be a multiple of 12"),
        (["folder", "--shape", "2x24"], "Give a model or --shape, not both."),
        (["--shape", "2x24", "--drop", "much", "--quick"], "--drop much"),
        (["no-such-folder"], "There is no folder no-such-folder."),
        (["--quick", "--engines", "turbo"], "--engines turbo: there are sentence-transformers torch fp32,"),
        (
            ["--quick", "--candidates", "0,4"],
            "--candidates 0,4: expected numbers from 1, or lists, separated by commas.",
        ),
        (["--quick", "--candidates", "lists,4"], "--candidates lists times the lists of a data set: name one"),
        (["--quick", "--candidates", "ten"], "--candidates ten: expected numbers from 1, or lists,"),
        (["--from", "no-such-file.json"], "no-such-file.json cannot be read as results"),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence):
    problem = run(*arguments).exception
    assert isinstance(problem, CascadaError)
    assert sentence in str(problem)


@pytest.mark.parametrize(
    "content",
    [
        '{"MAP": 1}',
        "[]",
        "3",
        '{"engines": [], "machine": {}, "model": {}, "texts": {}}',
        '{"engines": [{"engine": "cascada"}], "machine": {}, "model": {}, "texts": {}}',
    ],
)
def test_a_file_of_another_kind_or_a_damaged_one_is_rejected(tmp_path, content):
    (tmp_path / "other.json").write_text(content)
    problem = run("--from", tmp_path / "other.json").exception
    assert isinstance(problem, CascadaError)
    assert str(problem) == f"{tmp_path / 'other.json'} has no results of `cascada bench --json`."
