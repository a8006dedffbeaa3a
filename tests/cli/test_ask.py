"""`cascada ask`, as a user runs it."""

import json
import os
import sys
from pathlib import Path

import pytest
from rich.console import Console

from cascada.cli.main import main
from cascada.search import ask

QUESTION = "Who wrote Hamlet?"
PLAYS = "Plays of England\n\nIt rained. Hamlet was written by\nWilliam Shakespeare. So was Macbeth.\n"


class Done:
    def __init__(self, code, captured):
        self.code, self.out, self.error = code, captured.out, captured.err


@pytest.fixture
def cascada(monkeypatch, capsys):
    """Run the command line here; what it printed and how it ended."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["cascada", *map(str, arguments)])
        try:
            main()
        except SystemExit as ended:
            return Done(ended.code or 0, capsys.readouterr())

    return run


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "documents"
    (folder / "more").mkdir(parents=True)
    (folder / "plays.txt").write_text(PLAYS)
    (folder / "more" / "faust.html").write_text("<p>Faust was written by Goethe.</p><p>It is long.</p>")
    return folder


def answers(done):
    assert (done.code, done.error) == (0, "")
    return json.loads(done.out)["answers"]


def assert_refused(done, sentence):
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith("cascada: ")
    assert sentence in done.error
    assert done.error.count("\n") == 1


def test_the_json_keeps_its_contract(cascada, folder):
    best = answers(cascada("ask", QUESTION, folder, "--json"))[0]
    assert {"text", "document", "start", "end", "score"} <= set(best)
    assert best["document"] == str(folder / "plays.txt")
    assert PLAYS[best["start"] : best["end"]] == best["text"] == "Hamlet was written by\nWilliam Shakespeare."
    assert 0 <= best["score"] <= 1
    assert (best["line"], best["page"]) == (3, None)


def test_single_files_may_be_given(cascada, folder):
    found = answers(cascada("ask", "Who wrote Faust?", folder / "plays.txt", folder / "more" / "faust.html", "--json"))
    assert found[0]["text"] == "Faust was written by Goethe."


def test_top_and_paragraphs_say_how_many(cascada, folder):
    assert len(answers(cascada("ask", "it was", folder, "--json", "--top", "2"))) == 2
    done = json.loads(cascada("ask", "it was", folder, "--json", "--paragraphs", "1").out)
    assert done["passages"] == 1


def test_an_index_is_kept_updated_and_asked_by_itself(cascada, folder, tmp_path):
    index = tmp_path / "index"
    first = answers(cascada("ask", QUESTION, folder, "--index", index, "--json"))
    assert first == answers(cascada("ask", QUESTION, index, "--json"))
    assert first == answers(cascada("ask", QUESTION, "--index", index, "--json"))
    (folder / "plays.txt").write_text("Hamlet was written by nobody.")
    assert answers(cascada("ask", QUESTION, folder, "--index", index, "--json"))[0]["text"].endswith("nobody.")


def test_rankers_and_their_drops_are_as_in_rank(cascada, folder):
    settings = ["--model", "bm25+bm25", "--scoring", "tfidf", "--json"]
    assert answers(cascada("ask", QUESTION, folder, *settings, "--drop", "0.5"))
    assert answers(cascada("ask", QUESTION, folder, *settings, "--keep", "1", "--deadline-ms", "10000"))


def test_bad_files_are_reported_on_stderr_and_the_rest_is_searched(cascada, folder):
    (folder / "latin.txt").write_bytes(b"fa\xe7ade")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    done = cascada("ask", QUESTION, folder, "--json")
    assert done.code == 0
    assert json.loads(done.out)["answers"][0]["text"].startswith("Hamlet")
    told = done.error.splitlines()
    assert [line.startswith("cascada: left out: ") for line in told] == [True, True]
    assert "broken.pdf" in told[0]
    assert "latin.txt, line 1: not UTF-8" in told[1]


def test_it_says_when_nothing_was_found(cascada, folder):
    done = cascada("ask", "xylophone", folder)
    assert (done.code, done.error) == (0, "")
    assert "No passage shares a word with the question." in done.out


@pytest.mark.parametrize("width", [80, 120])
def test_a_terminal_shows_the_answer_in_its_paragraph_with_file_and_line(cascada, folder, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(folder.parent)
    lines = cascada("ask", QUESTION, folder, "--top", "1").out.splitlines()
    assert lines[0] == QUESTION
    assert lines[2].split() == ["1", lines[2].split()[1], "documents/plays.txt,", "line", "3"]
    assert " ".join(" ".join(lines[3:]).split()) == (
        "Plays of England It rained. » Hamlet was written by William Shakespeare. « So was Macbeth."
    )
    assert all(len(line) <= width and line == line.rstrip() for line in lines)


def test_with_colours_the_answer_is_highlighted_and_not_marked(folder):
    console = Console(force_terminal=True, color_system="standard", width=80, legacy_windows=False)
    with console.capture() as captured:
        console.print(ask(QUESTION, folder, top=1))
    assert "\x1b[1;32mHamlet was written by William Shakespeare.\x1b[0m" in captured.get()
    assert "»" not in captured.get()


def test_control_characters_of_a_file_do_not_reach_the_terminal(cascada, folder):
    (folder / "evil.txt").write_text("Hamlet \x1b[31m was written by \x07 Eve and nobody but Eve.")
    assert "\x1b" not in cascada("ask", "Who is Eve and who was written by Eve?", folder).out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "There is nothing to ask: give files, folders or an index."),
        (("nowhere",), "nowhere cannot be read: No such file or directory."),
        (("--index", "nowhere"), "nowhere does not exist: make one with `cascada index FOLDER nowhere`."),
        (("documents", "--scoring", "best"), "The scoring is 'best'; it must be bm25 or tfidf."),
        (("documents", "--model", "none"), "There is no folder none."),
        (("documents", "--drop", "2"), "drop"),
        (("documents", "--deadline-ms", "0"), "deadline_ms is 0"),
        (("documents", "index"), "index is an index, and an index is asked alone: add files to it with --index index."),
        (("index",), "The index index is empty: fill it with `cascada index FOLDER index`."),
        (("documents/bad.docx",), "bad.docx cannot be read: Cascada reads .txt, .md, .html, .pdf and .jsonl files."),
    ],
)
def test_a_mistake_is_one_sentence(cascada, folder, monkeypatch, arguments, sentence):
    monkeypatch.chdir(folder.parent)
    (folder / "bad.docx").write_text("x")
    (folder.parent / "index").mkdir()
    (folder.parent / "index" / "cascada-index.json").write_text('{"format": 2}')
    assert_refused(cascada("ask", QUESTION, *arguments), sentence)


def test_an_empty_question_is_one(cascada, folder):
    assert_refused(cascada("ask", " ", folder), "The question is empty.")


def test_a_name_that_is_not_utf_8_is_valid_json(cascada, tmp_path):
    try:
        Path(os.fsdecode(bytes(tmp_path / "plays") + b"-\xe9.txt")).write_text("Shakespeare wrote Hamlet.")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    (answer,) = answers(cascada("ask", "who wrote hamlet?", tmp_path, "--json"))
    assert answer["document"].endswith("plays-\ufffd.txt")
