"""`cascada data openqa`, on a few articles about rivers."""

import json

import pytest
from typer.testing import CliRunner

from cascada.cli.data import app
from cascada.core.errors import CascadaError
from cascada.data import read
from cascada.data.spans import read_paragraphs

RIVERS = ["Rhine", "Danube", "Volga", "Thames", "Seine"]


@pytest.fixture
def squad(tmp_path):
    """Five articles, each of two paragraphs with a question."""
    articles = []
    for number, river in enumerate(RIVERS):
        facts = {"length": f"{number + 3}00 miles", "source": f"Mount {river}berg"}
        paragraphs = []
        for fact, value in facts.items():
            context = f"Of the {river} much is told. The {fact} of the {river} is {value}. So it flows."
            answer = {"text": value, "answer_start": context.index(value)}
            question = {"id": f"{river}-{fact}", "question": f"What is the {fact} of the {river}?", "answers": [answer]}
            paragraphs.append({"context": context, "qas": [question]})
        articles.append({"title": river, "paragraphs": paragraphs})
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": articles}))
    return path


@pytest.fixture
def sentences(tmp_path):
    """Other text, tokenised: one sentence that a paragraph holds, one with an answer, and an article of its own."""
    folder = tmp_path / "sentences"
    folder.mkdir()
    lines = [
        ("what is the length of the rhine ?", "the length of the rhine is 300 miles ."),
        ("how far is 400 ?", "the danube boat went 400 miles ."),
        ("what is an ebro ?", "an ebro is a spanish river ."),
        ("where is the ebro ?", "the ebro is in spain ."),
        ("who drank the ebro ?", "nobody drank the ebro ."),
    ]
    (folder / "tgt-dev.txt").write_text("".join(f"{question}\n" for question, _ in lines))
    (folder / "src-dev.txt").write_text("".join(f"{sentence}\n" for _, sentence in lines))
    (folder / "doclist-dev.txt").write_text("Rhine\nDanube\nEbro\nEbro\nEbro\n")
    return folder


def run(squad, out, sentences=None, *options):
    more = ["--more", "squad_sentences", "--root", sentences, "--split", "dev"] if sentences else []
    arguments = ["openqa", squad, out, *more, "--scoring", "bm25", "--sentences", 2, "--json", *options]
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def splits(out):
    return {name: list(read(f"{out}-{name}.jsonl")) for name in ("train", "dev", "test")}


def pool(out):
    lines = out.with_name(f"{out.name}-pool.jsonl").read_text().splitlines()
    return {one["id"]: one["text"] for one in map(json.loads, lines)}


def test_training_sees_nothing_of_the_articles_that_are_measured(squad, sentences, tmp_path):
    run(squad, tmp_path / "qa", sentences)
    found = splits(tmp_path / "qa")
    measured = {group.id.split("-")[0] for name in ("dev", "test") for group in found[name]}
    learned = [*found["train"], *read(f"{tmp_path / 'qa'}-more.jsonl")]
    shown = {candidate.id.rpartition("/")[0] for group in learned for candidate in group.candidates}
    assert "Ebro" in shown
    assert not shown & measured
    searched = {candidate.id.rpartition("/")[0] for group in found["test"] for candidate in group.candidates}
    assert searched >= measured  # all of the pool


def test_every_question_is_in_one_split_and_every_article_too(squad, tmp_path):
    told = run(squad, tmp_path / "qa")
    found = splits(tmp_path / "qa")
    articles = {name: {group.id.split("-")[0] for group in groups} for name, groups in found.items()}
    assert sorted(group.id for groups in found.values() for group in groups) == sorted(
        f"{river}-{fact}" for river in RIVERS for fact in ("length", "source")
    )
    assert [len(articles[name]) for name in articles] == [3, 1, 1]
    assert not articles["train"] & (articles["dev"] | articles["test"])
    assert (told["pool"], told["train"]["articles"], told["test"]["questions"]) == (10, 3, 2)


def test_the_answers_of_a_split_are_beside_it_in_squads_layout(squad, tmp_path):
    run(squad, tmp_path / "qa")
    for name, groups in splits(tmp_path / "qa").items():
        answered = read_paragraphs(tmp_path / f"qa-{name}.json")
        assert [question.id for one in answered for question in one.questions] == [group.id for group in groups]
        assert {one.title for one in answered} == {group.id.split("-")[0] for group in groups}


def test_candidates_are_what_is_found_best_first_and_correct_where_the_answer_stands(squad, sentences, tmp_path):
    run(squad, tmp_path / "qa", sentences)
    groups = {group.id: group for one in splits(tmp_path / "qa").values() for group in one}
    length = groups["Danube-length"]
    assert length.candidates[0].id == "Danube/1"
    correct = {candidate.id for candidate in length.candidates if candidate.label}
    assert correct == {"Danube/1", "Danube/3"}  # its own, and "the danube boat went 400 miles."
    assert all(text == pool(tmp_path / "qa")[one.id] for one, text in zip(length.candidates, length.texts, strict=True))


def test_other_text_comes_in_paragraphs_without_what_is_there_already(squad, sentences, tmp_path):
    told = run(squad, tmp_path / "qa", sentences)
    texts = pool(tmp_path / "qa")
    assert (told["pool"], told["repeated"]) == (13, 1)
    assert texts["Danube/3"] == "the danube boat went 400 miles."
    assert texts["Ebro/1"] == "an ebro is a spanish river. the ebro is in spain."
    assert texts["Ebro/2"] == "nobody drank the ebro."
    assert not any("length of the rhine" in text for text in texts.values())


def test_questions_of_other_text_train_only_where_the_article_is_a_different_one(squad, sentences, tmp_path):
    run(squad, tmp_path / "qa", sentences, "--more-paragraphs", 3)
    more = list(read(tmp_path / "qa-more.jsonl"))
    assert [group.question for group in more] == ["what is an ebro?", "where is the ebro?", "who drank the ebro?"]
    assert [[one.id for one in group.candidates if one.label] for group in more] == [["Ebro/1"], ["Ebro/1"], ["Ebro/2"]]
    assert all(len(group.candidates) <= 4 for group in more)


def test_a_paragraph_that_was_not_found_is_added_for_training_only(squad, tmp_path):
    run(squad, tmp_path / "qa", None, "--paragraphs", 1, "--train", 0.4, "--dev", 0.2)
    found = splits(tmp_path / "qa")
    assert all(any(group.labels) for group in found["train"])
    assert {len(group.candidates) for name in ("dev", "test") for group in found[name]} == {1}


def test_the_same_seed_writes_the_same_files(squad, sentences, tmp_path):
    names = ("pool.jsonl", "train.jsonl", "train.json", "dev.jsonl", "test.jsonl", "more.jsonl")
    written = {}
    for out, seed in (("a", 1), ("b", 1), ("c", 4)):
        run(squad, tmp_path / out, sentences, "--seed", seed, "--more-questions", 2)
        written[out] = [(tmp_path / f"{out}-{name}").read_bytes() for name in names]
    assert written["a"] == written["b"]
    assert written["a"][1] != written["c"][1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--train", 0.9, "--dev", 0.1], "below 1 together"),
        (["--scoring", "magic"], "must be bm25 or tfidf"),
        (["--more", "nothing"], "There is no data set 'nothing'"),
    ],
)
def test_mistakes_are_reported_before_anything_is_written(squad, tmp_path, options, sentence):
    with pytest.raises(CascadaError, match=sentence):
        run(squad, tmp_path / "qa", None, *options)
    assert [path.name for path in tmp_path.iterdir()] == ["squad.json"]


def test_three_articles_are_needed(squad, tmp_path):
    content = json.loads(squad.read_text())
    squad.write_text(json.dumps({"data": content["data"][:2]}))
    with pytest.raises(CascadaError, match="There are 2 articles"):
        run(squad, tmp_path / "qa")


def test_a_test_file_is_searched_in_the_whole_pool_and_never_seen_in_training(squad, tmp_path):
    context = "The Ebro is a river of Spain. Its length is 930 km."
    asked = {"id": "ebro", "question": "What is the length of the Ebro?"}
    asked["answers"] = [{"text": "930 km", "answer_start": context.index("930 km")}]
    tested = {"data": [{"title": "Ebro", "paragraphs": [{"context": context, "qas": [asked]}]}]}
    (tmp_path / "test.json").write_text(json.dumps(tested))
    passages = [
        ("Tagus", "The length of the Tagus is 1,007 km."),
        ("Ebro", "The Ebro ends in a delta of great length."),
    ]
    passages.append(("Again", context))  # what the pool has already
    lines = [json.dumps({"id": name, "text": text}) for name, text in passages]
    (tmp_path / "passages.jsonl").write_text("\n".join(lines))
    options = ["--test", tmp_path / "test.json", "--passages", tmp_path / "passages.jsonl"]
    counts = run(squad, tmp_path / "qa", None, *options, "--train-questions", 4)
    found = splits(tmp_path / "qa")
    assert counts["pool"] == 2 * len(RIVERS) + 1 + 2
    assert [group.id for group in found["test"]] == ["ebro"]
    assert {"Ebro/1", "Ebro/2", "Tagus/1"} <= {candidate.id for candidate in found["test"][0].candidates}
    assert len(found["train"]) == 4
    shown = {candidate.id.rpartition("/")[0] for group in found["train"] for candidate in group.candidates}
    assert "Tagus" in shown
    assert not shown & {"Ebro", *(group.id.split("-")[0] for group in found["dev"])}
    run(squad, tmp_path / "tfidf", None, *options, "--scoring", "tfidf")
    (group,) = read(f"{tmp_path / 'tfidf'}-test.jsonl")
    assert (group.candidates[0].id, group.labels[0]) == ("Ebro/1", 1)


def test_test_questions_without_answers_are_refused_before_anything_is_written(squad, tmp_path):
    content = json.loads(squad.read_text())
    for number, paragraph in enumerate(content["data"][0]["paragraphs"]):
        paragraph["qas"][0] |= {"id": f"blank-{number}", "answers": [{"text": "", "answer_start": 0}]}
    blank = tmp_path / "blank.json"
    blank.write_text(json.dumps({"data": content["data"][:1]}))
    with pytest.raises(CascadaError, match="No test question has an answer"):
        run(squad, tmp_path / "out", None, "--test", blank)
    assert not list(tmp_path.glob("out-*"))
