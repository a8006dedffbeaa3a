import json

import pytest
from typer.testing import CliRunner

from cascada.cli.data import app
from cascada.core.errors import CascadaError
from cascada.data import read

RIVERS = ["rhine", "danube", "volga", "thames", "seine", "ebro"]
FACTS = ["source", "mouth", "length", "depth", "colour"]


@pytest.fixture
def folder(tmp_path):
    """Six articles of five lines, tokenised, as SQuAD's answer sentences are released."""
    facts = [(river, fact) for river in RIVERS for fact in FACTS]
    (tmp_path / "tgt-dev.txt").write_text("".join(f"what is the {fact} of the {river} ?\n" for river, fact in facts))
    (tmp_path / "src-dev.txt").write_text(
        "".join(f"{river} -lrb- {fact} -rrb- {river}{fact} . \n" for river, fact in facts)
    )
    (tmp_path / "doclist-dev.txt").write_text("".join(f"{river.title()}\n" for river in RIVERS))
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, ["mine", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_mine_writes_groups_that_can_be_read_and_reports_the_counts(folder, tmp_path):
    out = tmp_path / "out.jsonl"
    told = json.loads(run("squad_sentences", out, "--root", folder, "--split", "dev", "--evidence", "1", "--json"))
    groups = list(read(out))
    assert (told["questions"], told["pairs"], told["positives"]) == (30, 150, 30)
    assert told["negatives"] == {"kept": 0, "hard": 60, "same": 30, "other": 30}
    assert set(told["refused"]) == {"correct", "duplicate", "answer", "evidence"}
    assert [len(group.candidates) for group in groups] == [5] * 30
    assert groups[0].id == "Rhine/1"
    assert "rhine (source) rhinesource." in groups[0].texts


def test_several_splits_are_one_corpus(folder, tmp_path):
    (folder / "tgt-test.txt").write_text("how long is the nile ?\n")
    (folder / "src-test.txt").write_text("the nile is long .\n")
    (folder / "doclist-test.txt").write_text("Nile\n")
    run("squad_sentences", tmp_path / "out", "--root", folder, "--split", "dev,test")
    assert [group.id for group in read(tmp_path / "out")][-2:] == ["Ebro/30", "Nile/1"]


def test_parallel_files_are_mined_with_the_articles_in_a_third(folder, tmp_path):
    files = (folder / "tgt-dev.txt", tmp_path / "out", "--sentences", folder / "src-dev.txt")
    run(*files, "--articles", folder / "doclist-dev.txt", "--hard", 0, "--same", 2, "--other", 0, "--tokenised")
    for group in read(tmp_path / "out"):
        assert {candidate.id.split("/")[0] for candidate in group.candidates} == {group.id.split("/")[0]}


def test_the_same_seed_writes_the_same_bytes(folder, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run("squad_sentences", tmp_path / name, "--root", folder, "--split", "dev", "--seed", seed)
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_excluded_articles_appear_nowhere(folder, tmp_path):
    (tmp_path / "test-articles").write_text("Rhine\nEbro\nAmazon\n")
    source = ("squad_sentences", tmp_path / "out", "--root", folder, "--split", "dev")
    shown = run(*source, "--exclude-articles", tmp_path / "test-articles")
    assert "20 questions, 100 pairs, 20 correct" in shown
    assert "excluded 10" in shown
    assert not [text for group in read(tmp_path / "out") for text in group.texts if "rhine" in text or "ebro" in text]


def test_a_groups_file_keeps_its_negatives_on_request(tmp_path):
    lines = [
        {"question": f"who is {name}?", "candidates": [{"text": f"{name} is", "label": 1}, {"text": name, "label": 0}]}
        for name in ("ada", "bob", "eve")
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    numbers = ("--hard", 0, "--same", 1, "--other", 0, "--keep-negatives")
    told = json.loads(run(tmp_path / "in.jsonl", tmp_path / "out", *numbers, "--json"))
    assert told["negatives"] == {"kept": 3, "hard": 0, "same": 3, "other": 0}


def test_the_answers_of_a_squad_file_guard_its_own_questions(tmp_path):
    context = "Denver won the game. Fans of Denver saw the game. The game was long."
    asked = [{"id": "a", "question": "Who won the game?", "answers": [{"answer_start": 0, "text": "Denver"}]}]
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": context, "qas": asked}]}]}))
    off = ("--evidence", 1, "--jaccard", 1, "--containment", 1)
    told = json.loads(run(f"squad:{path}", tmp_path / "out", *off, "--answers", path, "--json"))
    assert told["refused"]["answer"] >= 1
    (group,) = read(tmp_path / "out")
    assert set(group.texts) == {"Denver won the game.", "The game was long."}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--hard", "0", "--same", "0", "--other", "0"), "Nothing to mine"),
        (("--evidence", "2"), "guard evidence must be over 0"),
        (("--articles", "x"), "belong to --sentences"),
        (("--exclude-articles", "none"), "none cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_no_file(folder, tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    arguments = ["mine", "squad_sentences", "out", "--root", str(folder), "--split", "dev", *options]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, CascadaError)
    assert sentence in str(result.exception)
    assert not (tmp_path / "out").exists()
