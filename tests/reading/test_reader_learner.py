"""Training a reader: it learns, it resumes, and its folder can be loaded."""

import json
import random
from pathlib import Path

import pytest
from trained import history, weights

from cascada.core.errors import CascadaError
from cascada.data import Group, write_jsonl
from cascada.data.group import Candidate
from cascada.reading import Reader
from cascada.reading.examples import SpanExamples, incorrect_texts, marked_questions
from cascada.reading.settings import ReaderRecipe, SpanSettings
from cascada.text.windows import WindowTokenizer
from cascada.training.recipes import read_recipe
from cascada.training.single_run import train_model
from cascada.training.trainer import LearnerTrainer


def squad(path: Path, words, questions, seed):
    """Write questions whose answer is always the first word of the vocabulary."""
    answer, *others = words
    rng = random.Random(seed)
    paragraphs = []
    for number in range(questions):
        said = rng.choices(others, k=rng.randint(6, 14))
        place = rng.randrange(len(said))
        start = len(" ".join([*said[:place], ""]))
        said.insert(place, answer)
        asked = {"id": f"{seed}-{number}", "question": " ".join(rng.sample(others, 2))}
        asked["answers"] = [{"text": answer, "answer_start": start}]
        paragraphs.append({"context": " ".join(said), "qas": [asked]})
    path.write_text(json.dumps({"data": [{"title": "A", "paragraphs": paragraphs}]}))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory, words):
    folder = tmp_path_factory.mktemp("spans")
    known = words[:12]
    train = squad(folder / "train.json", known, 60, 1)
    squad(folder / "dev.json", known, 20, 2)
    candidates = (
        Candidate(f"{known[0]} {known[1]}", 1, "r"),
        Candidate(" ".join(known[5:12]), 0, "w"),
        Candidate(" ".join(known[7:9]), 0, "x"),
    )
    groups = [
        Group(marked.question, candidates, marked.id) for marked in marked_questions(SpanSettings(source=str(train)))
    ]
    write_jsonl(groups, folder / "train.jsonl")
    return folder


@pytest.fixture
def recipe(files, encoder_folder, tmp_path):
    def make(output="run", train=None, model=None, **training):
        settings = {"epochs": 3, "learning_rate": 3e-3, "batch": {"by": "tokens", "size": 400}, **training}
        return ReaderRecipe.model_validate(
            {
                "kind": "reader",
                "output": str(tmp_path / output),
                "model": {"encoder": str(encoder_folder), "layers": 2, "max_length": 32, "overlap": 8, **(model or {})},
                "train": {"source": str(files / "train.json"), "groups": str(files / "train.jsonl"), **(train or {})},
                "dev": {"source": str(files / "dev.json")},
                "training": settings,
            }
        )

    return make


@pytest.fixture(scope="module")
def examples(files, encoder_folder):
    tokenizer = WindowTokenizer.load(encoder_folder, max_length=16, overlap=4)
    settings = SpanSettings(source=str(files / "train.json"), groups=str(files / "train.jsonl"), wrong=1)
    return marked_questions(settings), SpanExamples.spans(
        marked_questions(settings), incorrect_texts(settings), tokenizer
    )


def test_every_answer_is_marked_in_a_window_that_holds_it(examples):
    asked, found = examples
    assert len(found) > 2 * len(asked)  # windows of 16 tokens, and an incorrect text each
    for row in range(len(found)):
        answer = asked[found.owner[row]].answers[0].text
        if found.labels[row]:
            begin, end = found.windows.character_span(row, int(found.starts[row]), int(found.ends[row]))
            text = asked[found.owner[row]].text
            assert (text[begin:end], begin) == (answer, asked[found.owner[row]].answers[0].start)
        else:
            assert (found.starts[row], found.ends[row]) == (0, 0)
    assert set(found.owner[found.labels == 1].tolist()) == set(range(len(asked)))


def test_incorrect_texts_are_those_labelled_so(files, words):
    both = (" ".join(words[5:12]), " ".join(words[7:9]))
    settings = SpanSettings(source="any", groups=str(files / "train.jsonl"))
    assert set(incorrect_texts(settings).values()) == {both}
    assert set(incorrect_texts(settings.model_copy(update={"wrong": 1})).values()) == {both[:1]}
    assert incorrect_texts(SpanSettings(source="any")) == {}


def test_a_reader_learns_and_its_folder_reads(recipe, files, words):
    folder = train_model(recipe(epochs=5, negatives=1))
    dev = history(folder)["dev"]
    assert max(row["F1"] for row in dev) > 0.9 > dev[0]["F1"]
    assert all(0 <= row["EM"] <= row["F1"] <= 1 for row in dev)
    assert not (folder / "checkpoints").exists()
    assert "| exact match |" in (folder / "README.md").read_text()
    text = f"{words[3]} {words[8]} {words[0]} {words[5]}"
    reader = Reader.load(folder)
    (span,) = reader.read("bada", [text])
    assert (span.text, text[span.start : span.end], span.likely) == (words[0], words[0], True)
    sure, unsure = reader.read("bada", [f"{words[5]} {words[6]} {words[9]}", text])
    assert (sure.document, unsure.document) == (1, 0)


def test_a_resumed_run_ends_with_the_same_weights(recipe, monkeypatch):
    whole = train_model(recipe("whole", epochs=2))
    saved = LearnerTrainer._save_checkpoint

    def stop(self, model, trial):
        saved(self, model, trial)
        raise KeyboardInterrupt

    monkeypatch.setattr(LearnerTrainer, "_save_checkpoint", stop)
    with pytest.raises(KeyboardInterrupt):
        train_model(recipe("stopped", epochs=2))
    monkeypatch.undo()
    assert weights(train_model(recipe("stopped", epochs=2))) == weights(whole)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            "training: {exits: {sample: all}}",
            "unknown key training.exits; it is for rankers of kind transformer",
        ),
        ("dev: {source: b, groups: c}", "dev.groups: groups is for training"),
        ("dev: {source: b, wrong: 2}", "dev.wrong: wrong is for training"),
        ("model: {encoder: a, exits: [2]}", "unknown key model.exits"),
        ("train: {}", "train.source is missing"),
    ],
)
def test_a_mistake_in_the_recipe_is_one_sentence(tmp_path, change, sentence):
    lines = {"model": "model: {encoder: a}", "train": "train: {source: a}", "dev": "dev: {source: b}"}
    lines[change.partition(":")[0]] = change
    path = tmp_path / "reader.yaml"
    path.write_text("\n".join(["kind: reader", "output: o", *lines.values()]))
    with pytest.raises(CascadaError, match=sentence):
        read_recipe(path)


def test_questions_without_any_answer_cannot_be_learned_from(recipe, files, tmp_path):
    content = json.loads((files / "train.json").read_text())
    for paragraph in content["data"][0]["paragraphs"]:
        paragraph["qas"][0]["answers"] = []
    (tmp_path / "none.json").write_text(json.dumps(content))
    with pytest.raises(CascadaError, match="no answer that fits into a window"):
        train_model(recipe(train={"source": str(tmp_path / "none.json")}))
