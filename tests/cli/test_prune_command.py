"""`cascada prune`, as a user runs it."""

import io
import json
import sys

import pytest

from cascada import Ranker
from cascada.cli.main import main

QUESTION = "When was the Eiffel Tower completed?"
PASSAGES = [
    "Beat the eggs with sugar. Bake it for half an hour.",
    "The Eiffel Tower is in Paris. It was completed in 1889. The city has many bakeries.",
]
LINES = "\n".join(PASSAGES)


@pytest.fixture
def cascada(monkeypatch, capsys):
    """Run the command line here; its exit code, output and errors."""

    def run(*arguments, stdin=LINES):
        monkeypatch.setattr(sys, "argv", ["cascada", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return run


def test_json_is_the_rankers_own(cascada):
    code, out, _ = cascada("prune", QUESTION, "--json")
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(Ranker.load().prune(QUESTION, PASSAGES).to_dict()))


def test_a_person_reads_what_is_kept_and_how_much_is_cut(cascada):
    code, out, _ = cascada("prune", QUESTION)
    assert code == 0
    words = " ".join(out.split())
    assert "The Eiffel Tower is in Paris. It was completed in 1889. […]" in words
    assert words.endswith("cut; nothing is left of 1 of 2 passages.")
    assert "eggs" not in out


def test_passages_may_be_jsonl_and_a_budget_given(cascada, tmp_path):
    file = tmp_path / "passages.jsonl"
    file.write_text("".join(json.dumps({"text": text, "id": 1}) + "\n" for text in PASSAGES))
    code, out, _ = cascada("prune", QUESTION, file, "--budget", 16, "--json")
    assert code == 0
    kept = [one["text"] for passage in json.loads(out)["passages"] for one in passage["sentences"] if one["kept"]]
    assert "It was completed in 1889." in kept
    assert sum(map(Ranker.load().count_tokens, kept)) <= 16


@pytest.mark.parametrize(
    ("arguments", "stdin", "sentence"),
    [
        (("who?",), "", "There are no passages to prune."),
        ((" ",), "a", "The question is empty."),
        (("who?", "--min-score", "3"), "a", "min_score is 3.0; it must be a number from 0 to 1."),
        (("who?", "--budget", "0"), "a", "Invalid value for '--budget'"),
        (("who?", "--language", "../x"), "a", "language is '../x'"),
        (("who?", "nowhere.txt"), "a", "nowhere.txt"),
        (("who?",), '{"id": 1}\n', "stdin, line 1: expected a JSON object with a “text” that is a string."),
    ],
)
def test_a_mistake_is_one_sentence(cascada, arguments, stdin, sentence):
    code, out, error = cascada("prune", *arguments, stdin=stdin)
    assert (code, out) == (2, "")
    assert error.startswith("cascada: ")
    assert error.count("\n") == 1
    assert sentence in error
