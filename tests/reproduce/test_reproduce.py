"""`cascada reproduce`: what it lists, runs and reports."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from cascada.cli.main import main

REPOSITORY = Path(__file__).parents[2]
PAPERS = REPOSITORY / "recipes" / "papers.yaml"


@pytest.fixture
def cascada(monkeypatch, capsys, tmp_path):
    """The command, run in the test's folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["cascada", "reproduce", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=ended.value.code or 0, stdout=printed.out, stderr=printed.err)

    return run


def write(folder, results):
    """A file of results of one paper, in a repository of its own."""
    (folder / "recipes").mkdir()
    path = folder / "recipes" / "mine.yaml"
    path.write_text(json.dumps({"world": [], "papers": [{"name": "mine", "title": "Mine", "results": results}]}))
    return path


def result(number, short, **more):
    return {
        "number": number,
        "shows": "Something.",
        "page": "docs/x.md",
        "commands": {"full": [], "short": short},
        **more,
    }


SAY = """python -c "print('| a | b |'); print('|---|---|'); print('| 1 | 2 |'); print('said')" """
FAIL = """python -c "import sys; print('not this'); print('it broke', file=sys.stderr); sys.exit(3)" """


def test_the_list_has_every_result_and_what_it_needs(cascada):
    done = cascada("--list", "--papers", PAPERS)
    assert done.returncode == 0
    rows = {line.split("  ")[1]: line for line in done.stdout.splitlines() if " table " in line or " figure " in line}
    assert len(rows) == 30
    assert rows["cascade table 1"].split()[-2:] == ["5/4", "docs/data.md"]
    assert rows["tanda table 9"].split()[-2:] == ["–", "docs/papers/tanda.md"]
    found = json.loads(cascada("--list", "--json", "--papers", PAPERS).stdout)
    assert [row["note"] for row in found if (row["paper"], row["number"]) == ("tanda", "Table 9")] == [
        "The data is private. What noisy labels do to both is measured in Table 5."
    ]


def test_a_failing_command_ends_its_result_is_reported_and_does_not_stop_the_others(cascada, tmp_path):
    papers = write(
        tmp_path,
        [
            result("Table 1", [FAIL, SAY]),
            result("Table 2", [SAY]),
            {"number": "Figure 1", "shows": "Boxes.", "page": "docs/x.md", "note": "A drawing."},
        ],
    )
    done = cascada("all", "--papers", papers, "--output", "out")
    assert done.returncode == 1
    assert "mine table 1: failed" in done.stderr
    assert "it broke" in done.stderr.split("mine table 1: failed")[1]
    report = json.loads((tmp_path / "out" / "report.json").read_text())["results"]
    first, second, third = report
    assert [one["exit_code"] for one in first["commands"]] == [3]
    assert first["commands"][0]["last_lines"] == ["it broke"]
    assert (second["problem"], second["commands"][0]["how"]) == (None, "ran")
    assert (third["commands"], third["note"]) == ([], "A drawing.")
    text = (tmp_path / "out" / "report.md").read_text()
    assert "**Failed.** `python -c" in text
    assert "it broke" in text
    assert "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```text\nsaid\n```" in text
    assert f"cascada {report[0]['machine']['versions']['cascada']}" in text


def test_a_file_that_exists_is_not_made_again_and_no_command_runs_twice(cascada, tmp_path):
    count = {"run": "python -c \"open('log', 'a').write('x')\""}
    make = {"run": "python -c \"open('made', 'a').write('x')\"", "makes": "made"}
    papers = write(tmp_path, [result("Table 1", [make, count]), result("Table 2", [make, count])])
    for _ in range(2):
        assert cascada("mine", "--papers", papers).returncode == 0
    assert ((tmp_path / "made").read_text(), (tmp_path / "log").read_text()) == ("x", "xx")
    first, second = json.loads((tmp_path / "reproduced" / "report.json").read_text())["results"]
    assert [one["how"] for one in first["commands"]] == ["there already", "ran"]
    assert [one["how"] for one in second["commands"]] == ["there already", "ran before"]


def test_pictures_are_copied_to_the_report_which_keeps_the_results_of_earlier_calls(cascada, tmp_path):
    draw = "python -c \"import pathlib; pathlib.Path('a.png').write_bytes(b'png')\""
    pictures = {"short": ["a.png"], "full": []}
    missing = {"short": ["b.png"], "full": []}
    papers = write(
        tmp_path,
        [
            result("Table 1", [SAY]),
            result("Figure 1", [draw], pictures=pictures),
            result("Figure 2", [draw], pictures=missing),
        ],
    )
    (tmp_path / "work").mkdir()
    options = ("--papers", papers, "--work", "work")
    assert cascada("mine figure 1", *options).returncode == 0
    assert cascada("mine table 1", "mine figure 2", *options).returncode == 1
    text = (tmp_path / "reproduced" / "report.md").read_text()
    assert "![mine figure 1](pictures/mine-figure-1-short-a.png)" in text
    assert (tmp_path / "reproduced" / "pictures" / "mine-figure-1-short-a.png").read_bytes() == b"png"
    assert "The picture b.png was not made." in text
    assert [line.split("|")[1].split("]")[0] for line in text.splitlines() if line.startswith("| [")] == [
        " [mine table 1",
        " [mine figure 1",
        " [mine figure 2",
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("mine table 7",), "There is no result called 'mine table 7'; did you mean mine table 1"),
        (("all", "--work", "nowhere"), "--work nowhere: there is no such folder."),
        (("all", "--quick", "--size", "full"), "--quick runs the short commands."),
        (
            ("all", "--papers", "none.yaml"),
            "none.yaml cannot be read: No such file or directory. Run this in a clone of the repository",
        ),
        (("all", "--output", "other"), "report.json is not a report of `cascada reproduce`"),
    ],
)
def test_mistakes_are_one_sentence_and_nothing_is_run(cascada, tmp_path, words, sentence):
    papers = write(tmp_path, [result("Table 1", ["python -c \"open('log', 'a')\""])])
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "report.json").write_text("[]")
    done = cascada("--papers", papers, *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "log").exists()


def test_a_file_that_the_clone_does_not_have_is_a_sentence(cascada, tmp_path):
    papers = write(tmp_path, [result("Table 1", ["python benchmarks/missing.py"])])
    done = cascada("all", "--papers", papers)
    assert done.returncode == 2
    sentence = done.stderr.splitlines()[-1]
    assert sentence.startswith(f"cascada: {tmp_path / 'benchmarks' / 'missing.py'} does not exist.")
    assert "works in a clone of the repository" in sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"commands": {"short": [SAY]}}, "commands must be given for both sizes"),
        ({"commands": {}}, "without commands, a note must say why"),
        ({"commands": {"short": ["rm -r /"], "full": []}}, "a command begins with cascada or python"),
        ({"number": "Chart 1"}, "papers.0.results.0.number"),
    ],
)
def test_a_mistake_in_the_file_is_reported_with_its_place(cascada, tmp_path, change, sentence):
    papers = write(tmp_path, [result("Table 1", [SAY]) | change])
    done = cascada("--list", "--papers", papers)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "mine.yaml: papers.0.results.0" in done.stderr
