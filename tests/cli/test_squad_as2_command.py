"""`cascada data squad-as2`, as a user meets it."""

import gzip
import json

import pytest
from typer.testing import CliRunner

from cascada.cli.data import app
from cascada.core.errors import CascadaError
from cascada.data import read
from cascada.training.groups import training_groups
from cascada.training.settings import DataSettings

TITLES = ["Rhine", "Danube", "Volga", "Thames", "Seine", "Ebro"]


@pytest.fixture
def squad(tmp_path):
    """Six articles of two paragraphs, with a question each."""
    articles = []
    for river in TITLES:
        paragraphs = []
        for fact in ("length", "source"):
            context = f"Much is told. The {fact} of the {river} is {fact}{river}. So it flows."
            marked = {"text": fact + river, "answer_start": context.index(fact + river)}
            question = {"id": f"{river}-{fact}", "question": f"What is the {fact}?", "answers": [marked]}
            paragraphs.append({"context": context, "qas": [question]})
        articles.append({"title": river, "paragraphs": paragraphs})
    path = tmp_path / "squad.json.gz"
    with gzip.open(path, "wt") as file:
        json.dump({"data": articles}, file)
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["squad-as2", *map(str, arguments)], catch_exceptions=False)


def test_it_prints_the_papers_table(squad, tmp_path):
    result = run(squad, tmp_path / "all.jsonl")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row for row in rows if row and row[0] in "1234"] == [
        ["1", "no", "no", "36"],
        ["2", "no", "yes", "0"],
        ["3", "yes", "no", "24"],
        ["4", "yes", "yes", "12"],
    ]
    assert ["questions", "12"] in rows
    assert "6 articles, 6.0 candidates per question" in result.stdout


def test_the_parts_share_no_article_and_lose_no_question(squad, tmp_path):
    parts = {}
    for part in ("train", "dev", "test"):
        out = tmp_path / f"{part}.jsonl"
        counts = json.loads(run(squad, out, "--part", part, "--train", 0.5, "--dev", 0.2, "--json").stdout)
        parts[part] = [group.id for group in read(out)]
        assert counts["questions"] == len(parts[part]) == 2 * counts["articles"]
    rivers = [{name.split("-")[0] for name in names} for names in parts.values()]
    assert sum(map(len, rivers)) == len(set().union(*rivers)) == len(TITLES)


def test_recipes_choose_negatives_by_label(squad, tmp_path):
    run(squad, tmp_path / "train.jsonl", "--negatives", 4)
    groups = training_groups(DataSettings(source=str(tmp_path / "train.jsonl"), grades=(3,)))
    assert {candidate.grade for group in groups for candidate in group.candidates} == {3, 4}


def test_a_part_that_does_not_exist_is_named(squad, tmp_path):
    with pytest.raises(CascadaError, match="--part takes train, dev, test, not 'valid'"):
        run(squad, tmp_path / "out.jsonl", "--part", "valid")
    with pytest.raises(CascadaError, match="no file"):
        run(tmp_path / "absent.json", tmp_path / "out.jsonl")
