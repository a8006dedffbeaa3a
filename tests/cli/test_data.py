import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from cascada.cli.data import app
from cascada.core.errors import CascadaError
from cascada.data import load, read, read_qrels
from cascada.training.groups import training_groups
from cascada.training.settings import DataSettings

MIXED = "who?\the\t1\nwho?\tshe\t0\n"
NEGATIVE = "when?\tnever\t0\n"
POSITIVE = "where?\there\t1\n"


@pytest.fixture
def wikiqa(tmp_path):
    folder = tmp_path / "wikiqa"
    folder.mkdir()
    (folder / "train.tsv").write_text(MIXED + NEGATIVE + POSITIVE)
    (folder / "test.tsv").write_text(MIXED)
    return folder


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def counts(found):
    return found["questions"], found["pairs"], found["positives"]


def test_stats_print_every_split_on_disk_in_every_mode_as_json(wikiqa):
    found = json.loads(run("stats", "wikiqa", "--root", wikiqa, "--json"))
    assert list(found) == ["train", "test"]
    assert {mode: counts(one) for mode, one in found["train"].items()} == {
        "raw": (3, 4, 2),
        "no-all-negative": (2, 3, 2),
        "clean": (1, 2, 1),
    }


def test_stats_of_trecqa_include_the_large_training_set(tmp_path):
    for split in ("train", "train-all", "dev"):
        (tmp_path / f"{split}.jsonl").write_text('{"id": 1, "question": "q", "candidates": []}\n')
    assert list(json.loads(run("stats", "trecqa", "--root", tmp_path, "--json"))) == ["train", "train-all", "dev"]


def test_stats_can_be_narrowed_to_a_split_and_a_mode(wikiqa):
    found = json.loads(run("stats", "wikiqa", "--root", wikiqa, "--split", "train", "--mode", "clean", "--json"))
    assert {split: list(modes) for split, modes in found.items()} == {"train": ["clean"]}


def test_stats_of_a_file_are_named_after_it(wikiqa):
    assert list(json.loads(run("stats", f"wikiqa:{wikiqa / 'test.tsv'}", "--json"))) == ["test"]


def test_stats_without_json_are_a_table_that_fits_a_terminal(wikiqa):
    table = run("stats", "wikiqa", "--root", wikiqa)
    assert "no-all-negative" in table
    assert ["train", "raw", "3", "4", "1.3", "0.7"] in [line.split() for line in table.splitlines()]
    assert max(map(len, table.splitlines())) <= 80


def test_convert_writes_what_reads_back_the_same(wikiqa, tmp_path):
    options = ("--root", wikiqa, "--split", "train", "--mode", "clean")
    found = json.loads(run("convert", "wikiqa", tmp_path / "out.jsonl", *options, "--json"))
    assert counts(found) == (1, 2, 1)
    assert list(read(tmp_path / "out.jsonl")) == load("wikiqa", root=wikiqa, split="train", mode="clean")


def test_convert_leaves_out_the_first_questions_and_short_lists(wikiqa, tmp_path):
    options = ("--root", wikiqa, "--split", "train", "--json")
    assert counts(json.loads(run("convert", "wikiqa", tmp_path / "rest", *options, "--skip", 1))) == (2, 2, 1)
    assert counts(json.loads(run("convert", "wikiqa", tmp_path / "long", *options, "--at-least", 2))) == (1, 2, 1)


def test_convert_cuts_long_lists(tmp_path):
    candidates = [{"text": str(number), "label": int(number == 2)} for number in range(5)]
    (tmp_path / "all.jsonl").write_text(json.dumps({"question": "which?", "candidates": candidates}))
    run("convert", tmp_path / "all.jsonl", tmp_path / "cut.jsonl", "--candidates", 3)
    (group,) = read(tmp_path / "cut.jsonl")
    assert (group.texts, group.labels) == (("0", "1", "2"), (0, 0, 1))


def test_convert_writes_the_sample_that_a_recipe_draws_or_the_rest(tmp_path):
    lines = (
        f'{{"question": "what is {number}?", "candidates": [{{"text": "it", "label": 1}}]}}' for number in range(40)
    )
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    options = ("--questions", 10, "--sample-seed", 3)
    run("convert", tmp_path / "all.jsonl", tmp_path / "part.jsonl", *options)
    run("convert", tmp_path / "all.jsonl", tmp_path / "rest.jsonl", *options, "--rest")
    settings = DataSettings(source=str(tmp_path / "all.jsonl"), questions=10, sample_seed=3)
    part, rest = ([group.question for group in read(tmp_path / f"{name}.jsonl")] for name in ("part", "rest"))
    assert part == [group.question for group in training_groups(settings)]
    assert len(part) == 10
    assert sorted(part + rest) == sorted(group.question for group in read(tmp_path / "all.jsonl"))
    with pytest.raises(CascadaError, match="--rest belongs to --questions"):
        run("convert", tmp_path / "all.jsonl", tmp_path / "x", "--rest")


def test_convert_writes_qrels(wikiqa, tmp_path):
    assert "3 questions, 4 pairs" in run(
        "convert", "wikiqa", tmp_path / "out", "--root", wikiqa, "--split", "train", "--to", "qrels"
    )
    assert read_qrels(tmp_path / "out") == {"1": {"1-0": 1, "1-1": 0}, "2": {"2-0": 0}, "3": {"3-0": 1}}


def test_noise_flips_the_share_that_was_asked_for(wikiqa, tmp_path):
    options = ("--root", wikiqa, "--split", "train", "--share", "0.5", "--seed", "1")
    found = json.loads(run("noise", "wikiqa", tmp_path / "out.jsonl", *options, "--json"))
    assert (found["pairs"], found["flipped"], found["seed"]) == (4, 2, 1)
    before = [label for group in read("wikiqa", root=wikiqa, split="train") for label in group.labels]
    after = [label for group in read(tmp_path / "out.jsonl") for label in group.labels]
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 2


def test_split_puts_no_question_on_both_sides(tmp_path):
    rows = "".join(f"{question},t{n},{n % 2}\n" for n in range(2) for question in ["Who?", "who", *"abcdefgh"])
    (tmp_path / "all.csv").write_text("query,passage,label\n" + rows)
    files = tmp_path / "train.jsonl", tmp_path / "dev.jsonl"
    found = json.loads(run("split", tmp_path / "all.csv", *files, "--share", ".3", "--seed", 3, "--json"))
    train, dev = ({group.question.lower().strip("?") for group in read(file)} for file in files)
    assert not train & dev
    assert (len(dev), len(train | dev)) == (2, 9)
    assert found["train"]["questions"] + found["dev"]["questions"] == 10
    assert "columns: question = query, candidate = passage, label = label" in run("stats", tmp_path / "all.csv")
    with pytest.raises(CascadaError, match="share of questions"):
        run("split", tmp_path / "all.csv", *files, "--share", "1")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("stats", "wikiqa"), "needs the folder it is in"),
        (("stats", "selqa", "--root", "."), "has none of the files of selqa"),
        (("stats", "wikqa"), "did you mean wikiqa?"),
        (("stats", "x.jsonl", "--mode", "dirty"), "There is no mode 'dirty'"),
        (("stats", "x.jsonl"), "There is no file x.jsonl"),
        (("convert", "x.jsonl", "out", "--to", "pdf"), "--to takes jsonl or qrels, not 'pdf'"),
        (("noise", "x.jsonl", "out", "--share", "0.1"), "There is no file x.jsonl"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, CascadaError)
    assert sentence in str(result.exception)
    assert not result.stdout


def test_the_command_and_the_data_library_load_nothing_heavy():
    code = "import sys, cascada.cli.data, cascada.data; print([m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["torch", "transformers", "scipy", "pandas", "datasets", "pyarrow"]
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
