"""`cascada rank`, as a user runs it."""

import io
import json
import os
import subprocess
import sys

import pytest

from cascada.cli.main import main

QUESTION = "Who wrote Hamlet?"
TEXTS = ["It rained.", "Hamlet was written by Shakespeare.", "Été à l'été 😀"]


class Done:
    def __init__(self, code, captured):
        self.code, self.out, self.error = code, captured.out, captured.err


@pytest.fixture
def cascada(monkeypatch, capsys):
    """Run the command line here; what it printed and how it ended."""

    def run(*arguments, stdin=None):
        monkeypatch.setattr(sys, "argv", ["cascada", *map(str, arguments)])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            main()
        except SystemExit as ended:
            return Done(ended.code or 0, capsys.readouterr())

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "candidates"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


def ranked(done):
    """What was printed, without how long it took."""
    assert (done.code, done.error) == (0, "")
    found = json.loads(done.out)
    assert all(stage.pop("seconds") > 0 or not stage["candidates"] for stage in found["stages"])
    return found


def assert_refused(done, *sentences):
    """A user's mistake: exit code 2, one line on stderr, nothing on stdout."""
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith("cascada: ")
    assert done.error.count("\n") == 1
    for sentence in sentences:
        assert sentence in done.error


# What is read


def test_a_file_of_lines_is_ranked(cascada, file):
    found = ranked(cascada("rank", QUESTION, file, "--model", "bm25", "--json"))
    assert [item["text"] for item in found["items"]] == [TEXTS[1], TEXTS[0], TEXTS[2]]
    assert [item["index"] for item in found["items"]] == [1, 0, 2]


def test_the_json_keeps_its_contract(cascada, file):
    found = ranked(cascada("rank", QUESTION, file, "--drop", "0", "--json"))
    assert {"items", "relative_cost", "complete"} <= set(found)
    assert {"index", "text", "score", "raw_score", "exit", "truncated"} <= set(found["items"][0])
    assert (found["relative_cost"], found["complete"]) == (1.0, True)


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_stdin_is_ranked(cascada, file, arguments):
    from_stdin = ranked(cascada("rank", QUESTION, *arguments, "--json", stdin=file.read_bytes()))
    assert from_stdin == ranked(cascada("rank", QUESTION, file, "--json"))


def test_a_file_of_json_lines_is_ranked_by_their_text(cascada, tmp_path, file):
    path = tmp_path / "candidates.jsonl"
    path.write_text("\n".join(json.dumps({"id": i, "text": text}) for i, text in enumerate(TEXTS)))
    found = ranked(cascada("rank", QUESTION, path, "--json"))
    assert [one.pop("document")["id"] for one in found["items"]] == [one["index"] for one in found["items"]]
    assert found == ranked(cascada("rank", QUESTION, file, "--json"))


def test_lines_may_end_as_on_windows_and_begin_with_a_byte_order_mark(cascada, tmp_path, file):
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(TEXTS).encode() + b"\r\n")
    assert ranked(cascada("rank", QUESTION, path, "--json")) == ranked(cascada("rank", QUESTION, file, "--json"))


def test_an_empty_line_is_an_empty_candidate(cascada):
    found = ranked(cascada("rank", QUESTION, "--json", stdin=b"Hamlet\n\nx\n"))
    assert {item["index"]: item["text"] for item in found["items"]} == {0: "Hamlet", 1: "", 2: "x"}


def test_only_a_line_feed_ends_a_line(cascada):
    found = ranked(cascada("rank", QUESTION, "--json", stdin="a\u2028b\x0cc\x85d\n".encode()))
    assert [item["text"] for item in found["items"]] == ["a\u2028b\x0cc\x85d"]


def test_a_trained_ranker_is_used_with_its_drops(cascada, file, cascade_folder):
    found = ranked(cascada("rank", QUESTION, file, "--model", cascade_folder, "--drop", "0.5", "--json"))
    assert sorted(item["exit"] for item in found["items"]) == [2, 4, 4]
    assert found["relative_cost"] == pytest.approx(10 / 12)


def test_what_cannot_be_printed_is_ranked_all_the_same(cascada, tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"text": "half \\ud800"}')
    found = ranked(cascada("rank", "who\udcff?", tmp_path / "odd.jsonl", "--json"))
    assert [item["text"] for item in found["items"]] == ["half \ud800"]
    assert "half \ufffd" in cascada("rank", "who\udcff?", tmp_path / "odd.jsonl").out


# What is printed


def test_top_shows_the_first(cascada, file):
    found = ranked(cascada("rank", QUESTION, file, "--top", "1", "--json"))
    assert [item["index"] for item in found["items"]] == [1]


def test_min_score_leaves_candidates_out(cascada, file):
    everything = ranked(cascada("rank", QUESTION, file, "--json"))["items"]
    score = everything[0]["score"]
    found = ranked(cascada("rank", QUESTION, file, "--min-score", score, "--json"))
    assert found["items"] == [item for item in everything if item["score"] >= score]
    shown = cascada("rank", QUESTION, file, "--min-score", "1")
    assert (shown.code, shown.out.splitlines()) == (0, [QUESTION, "None of these is likely to be an answer."])
    assert_refused(cascada("rank", QUESTION, file, "--min-score", "1.5"), "min_score is 1.5", "from 0 to 1")


def test_without_json_the_ranking_is_a_table(cascada, file):
    done = cascada("rank", QUESTION, file)
    assert (done.code, done.error) == (0, "")
    lines = [line.split() for line in done.out.splitlines()]
    assert [line[0] for line in lines[-3:]] == ["1", "2", "3"]
    assert lines[-3][2:] == ["1", *TEXTS[1].split()]


def test_json_has_the_cost_of_each_exit(cascada, file, cascade_folder):
    found = ranked(cascada("rank", QUESTION, file, "--model", cascade_folder, "--keep", "1", "--json"))
    assert [(stage["exit"], stage["candidates"]) for stage in found["stages"]] == [(2, 3), (4, 1)]
    assert [len(item["scores"]) for item in found["items"]] == [2, 1, 1]
    assert [item["scores"][-1] for item in found["items"]] == [item["raw_score"] for item in found["items"]]
    assert found["flops"] == sum(stage["flops"] for stage in found["stages"]) < found["full_flops"]


def test_explain_shows_where_candidates_were_dropped(cascada, file, cascade_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = cascada("rank", QUESTION, file, "--model", cascade_folder, "--keep", "1", "--explain")
    assert (done.code, done.error) == (0, "")
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert lines[1].startswith("3 candidates · relative cost 0.667 · ")
    assert ["layer 2" in line and "2 dropped" in line for line in lines].count(True) == 1
    assert ["✗" in line for line in lines[-3:]] == [False, True, True]


def test_explain_shows_the_first_candidates_of_an_exit_or_all_of_them(cascada, tmp_path):
    (tmp_path / "many").write_text("\n".join(f"text {number}" for number in range(50)))
    asked = ("rank", QUESTION, tmp_path / "many", "--model", "bm25", "--explain")
    assert "… 40 more reached the last exit" in cascada(*asked).out
    assert "more" not in cascada(*asked, "--all").out
    assert "… 20 more" in cascada(*asked, "--top", "30").out


def test_a_deadline_gives_a_complete_order(cascada, file, cascade_folder):
    asked = ("rank", QUESTION, file, "--model", cascade_folder, "--json")
    found = ranked(cascada(*asked, "--deadline-ms", "0.001"))
    assert (len(found["items"]), found["complete"]) == (3, False)
    found = ranked(cascada(*asked, "--deadline-ms", "60000", "--drop", "fit"))
    assert (found["relative_cost"], found["complete"]) == (1.0, True)


# A user's mistakes


def test_an_empty_file(cascada, tmp_path):
    (tmp_path / "empty").write_text("")
    assert_refused(cascada("rank", QUESTION, tmp_path / "empty"), "There are no candidates to rank.")


def test_a_missing_file(cascada, tmp_path):
    assert_refused(cascada("rank", QUESTION, tmp_path / "nowhere.txt"), "nowhere.txt cannot be read: No such file")


def test_a_folder_where_a_file_should_be(cascada, tmp_path):
    assert_refused(cascada("rank", QUESTION, tmp_path), "cannot be read: Is a directory")


def test_a_line_that_is_not_utf_8_is_named(cascada, tmp_path):
    (tmp_path / "latin").write_bytes(b"fine\nfa\xe7ade\n")
    assert_refused(cascada("rank", QUESTION, tmp_path / "latin"), "latin, line 2: expected UTF-8 text, found byte 0xe7")


BAD_LINES = {
    "not JSON": "{text: 1}",
    "an empty line": "",
    "a list": "[1]",
    "no text": '{"body": "x"}',
    "a number": '{"text": 1}',
    "nested too deep": '{"text": ' + "[" * 100_000,
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_a_json_line_that_is_wrong_is_named(cascada, tmp_path, line):
    (tmp_path / "bad.jsonl").write_text(f'{{"text": "fine"}}\n{line}\n{{"text": "fine"}}\n')
    assert_refused(cascada("rank", QUESTION, tmp_path / "bad.jsonl", "--json"), "bad.jsonl, line 2: expected")


def test_an_unknown_model(cascada, file):
    assert_refused(cascada("rank", QUESTION, file, "--model", "nowhere"), "There is no folder nowhere.")


@pytest.mark.parametrize("question", ["", "  "])
def test_an_empty_question(cascada, file, question):
    assert_refused(cascada("rank", question, file), "The question is empty.")


@pytest.mark.parametrize("drop", ["1", "-0.1", "much", "0.3,0.3", "nan", ""])
def test_drops_that_are_none(cascada, file, cascade_folder, drop):
    assert_refused(cascada("rank", QUESTION, file, "--model", cascade_folder, f"--drop={drop}"), "drop")


@pytest.mark.parametrize("keep", ["0", "-1", "some", "3,2", "1.5", ""])
def test_numbers_to_keep_that_are_none(cascada, file, cascade_folder, keep):
    assert_refused(cascada("rank", QUESTION, file, "--model", cascade_folder, f"--keep={keep}"), "keep")


@pytest.mark.parametrize("deadline", ["0", "-5", "nan"])
def test_deadlines_that_are_none(cascada, file, deadline):
    assert_refused(cascada("rank", QUESTION, file, f"--deadline-ms={deadline}"), "deadline_ms is", "above 0")


def test_settings_that_do_not_go_together(cascada, file):
    assert_refused(cascada("rank", QUESTION, file, "--drop", "fit"), "deadline_ms, and none was given")
    assert_refused(cascada("rank", QUESTION, file, "--drop", "0.3", "--keep", "2"), "drop and keep were both given")


def test_a_setting_that_is_out_of_range_is_named(cascada, file):
    done = cascada("rank", QUESTION, file, "--top", "0")
    assert (done.code, done.out) == (2, "")
    assert "--top" in done.error


# The command as it is installed


def run(*arguments, text, **environment):
    command = [sys.executable, "-m", "cascada.cli.main", *map(str, arguments)]
    settings = {**os.environ, **environment}
    return subprocess.run(command, input=text.encode(), capture_output=True, timeout=300, env=settings)


def test_the_process_prints_json_and_ends_with_0(file):
    done = run("rank", QUESTION, "--model", "bm25", "--json", text=file.read_text(encoding="utf-8"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert [item["index"] for item in json.loads(done.stdout)["items"]] == [1, 0, 2]


def test_the_process_ends_with_2_on_a_mistake():
    done = run("rank", QUESTION, text="")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"cascada: There are no candidates to rank.\n")


@pytest.mark.parametrize("form", [["--json"], []])
def test_a_terminal_that_knows_no_unicode_is_no_mistake(file, form):
    done = run("rank", "été?", *form, text=file.read_text(encoding="utf-8"), PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    if form:
        assert TEXTS[2] in [item["text"] for item in json.loads(done.stdout)["items"]]
