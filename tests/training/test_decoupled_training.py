"""Decoupled rankers are trained by the same command, and a ranker may learn from another one."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from trained import history

from cascada.core.errors import CascadaError
from cascada.core.folder import read_shape
from cascada.data import load as load_groups
from cascada.encoders.encoder import load_encoder
from cascada.ranking import Ranker
from cascada.store import Store
from cascada.systems.decoupled.examples import SideExamples
from cascada.systems.decoupled.folder import begin, load
from cascada.systems.decoupled.learner import leave_documents, shape_of
from cascada.systems.decoupled.settings import DecoupledModel
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.training.recipes import validated
from cascada.training.run import prepare, train
from cascada.training.settings import Recipe, TeacherSettings
from cascada.training.teacher import mixed, taught_scores

CASCADE = {"kind": "decoupled", "join": 1, "exits": [1, 2, 3], "max_length": 24, "question_length": 8}


@pytest.fixture
def decoupled(content_in, tmp_path, encoder_folder):
    """A recipe for a decoupled ranker."""

    def of(output="run", model=None, **training):
        content = content_in(tmp_path, output, **training)
        content["model"] = {"encoder": str(encoder_folder), **CASCADE, **(model or {})}
        return Recipe.model_validate(content)

    return of


def test_a_decoupled_cascade_learns_at_all_of_its_exits(decoupled, data):
    folder = train(decoupled(epochs=3, exits={"sample": "all"}, learning_rate=3e-3))
    best = max(history(folder)["dev"], key=lambda row: row["MAP"])
    assert best["MAP"] > 0.8, "by chance it would be 0.46"
    assert {"MAP@1", "MAP@2"} <= best.keys()
    ranker = Ranker.load(folder)
    assert ranker.exits == (1, 2, 3)
    group = load_groups(str(data / "dev.jsonl"))[0]
    assert len(ranker.rank(group.question, group.texts, drop=0.5)) == len(group.texts)


@pytest.mark.parametrize("interaction", ["linear", "lstm"])
def test_the_papers_other_interactions_train_too(decoupled, interaction):
    settings = {"interaction": interaction, "exits": None, "towers": "shared", "keep": 8}
    folder = train(decoupled(model=settings, epochs=1))
    shape = load(folder).shape
    assert (shape.interaction, shape.exits, shape.towers, shape.keep) == (interaction, (2,), "shared", 8)


def test_a_batch_has_each_of_its_questions_once(data, encoder_folder):
    from cascada.text.sides import SideTokenizer

    tokenizer = SideTokenizer.load(encoder_folder, question_length=8, max_length=16, pad_id=0)
    groups = load_groups(str(data / "train.jsonl"))[:3]
    examples = SideExamples.of(groups, tokenizer)
    rows = [11, 0, 3, 12]
    batch = examples.collate(rows)
    assert batch["asked"].tolist() == [1, 0, 0, 1]
    assert batch["question"].shape[0] == 2
    decode = tokenizer.document.tokenizer.decode
    texts = [text for group in groups for text in group.texts]
    for place, row in enumerate(rows):
        assert decode(batch["text"][place].tolist()) == texts[row]
        assert batch["text_mask"][place].sum() == len(texts[row].split()) + 2
        asked = batch["question"][batch["asked"][place]]
        assert decode(asked.tolist()) == groups[row // 5].question
    assert examples.encoded.lengths[0] == len(groups[0].question.split()) + len(texts[0].split()) + 4


def test_questions_are_compared_with_documents_of_other_questions(data, encoder_folder):
    from cascada.text.sides import SideTokenizer

    tokenizer = SideTokenizer.load(encoder_folder, question_length=8, max_length=16, pad_id=0)
    groups = load_groups(str(data / "train.jsonl"))[:3]
    right = next(one for one in groups[0].candidates if one.label)
    groups[1] = dataclasses.replace(
        groups[1], candidates=(*groups[1].candidates[:4], dataclasses.replace(right, label=0))
    )
    texts = tuple(text for group in groups for text in group.texts)
    examples = dataclasses.replace(SideExamples.of(groups, tokenizer), texts=texts, others=3)
    rows = [0, 1, 2, 5, 6, 9, 10, 14]
    batch = examples.collate(rows)
    pairs = list(zip(batch["asked"].tolist(), batch["told"].tolist(), batch["labels"].tolist(), strict=True))
    assert pairs[:8] == [(row // 5, place, examples.labels[row]) for place, row in enumerate(rows)]
    assert [asked for asked, _, _ in pairs[8:]] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert batch["owner"].tolist() == batch["asked"].tolist()
    assert batch["text"].shape[0] == len(rows)
    for asked, told, label in pairs[8:]:
        assert label == 0
        assert rows[told] // 5 != asked
        assert (asked, texts[rows[told]]) != (0, right.text), "it is right for this question, wherever it comes from"
    again = examples.collate(rows)
    assert all(torch.equal(batch[name], again[name]) for name in batch), "a run that goes on draws the same"


def test_documents_from_a_store_leave_their_tower_as_it_is(decoupled, data, encoder_folder, tmp_path):
    kept = tmp_path / "documents.store"
    settings = {"batch": {"by": "questions", "size": 4, "others": 2}, "objective": {"point": 1, "list": 1}}
    changes = {"store": str(kept), "learning_rate": 3e-3, "exits": {"sample": "all"}, **settings}
    folder = train(decoupled(model={"exits": [2, 3]}, epochs=2, **changes))
    model, start = load(folder), load_encoder(encoder_folder)
    for own, before in zip(model.document.layers[0].parameters(), start.layers[0].parameters(), strict=True):
        assert torch.equal(own, before)
    trained = zip(model.question.layers[0].parameters(), start.layers[0].parameters(), strict=True)
    assert not all(torch.equal(own, before) for own, before in trained)
    group = load_groups(str(data / "dev.jsonl"))[0]
    assert not Store.open(kept, fingerprint=read_shape(folder)["fingerprint"]).missing(group.texts)
    ranking = Ranker.load(folder, store=kept).rank(group.question, group.texts)
    assert len(ranking) == len(group.texts)
    other = {"join": 2, "exits": [3]}
    with pytest.raises(CascadaError, match="another model"):
        train(decoupled("other", model=other, epochs=1, **changes))


def test_what_is_above_the_join_may_have_a_rate_of_its_own(decoupled, tmp_path):
    made = prepare(decoupled(learning_rate=1e-4, joint_rate=1e-3), tmp_path)
    rates = {id(weight): group["lr"] for group in made.create_optimizer().param_groups for weight in group["params"]}
    parts = {}
    for name, weight in made.model.named_parameters():
        parts.setdefault(name.split(".")[0], set()).add(rates[id(weight)])
    above = {name: {1e-3} for name in ("meet", "interaction", "classifiers")}
    assert parts == {"document": {1e-4}, "question": {1e-4}, "cosine": {1e-2}, **above}


def test_a_tower_that_both_sides_share_reads_questions_in_training_as_it_does_later(encoder_folder):
    model = begin(str(encoder_folder), DecoupledShape(2, (3,), towers="shared", max_length=24, question_length=8))
    leave_documents(model)
    model.train()
    ids = torch.tensor([[2, 5, 6, 3]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    once, again = (model.encode_question(ids, mask) for _ in range(2))
    assert torch.equal(once, again)
    assert not once.requires_grad


@pytest.mark.parametrize(
    ("training", "sentence"),
    [
        ({"batch": {"by": "pairs", "others": 2}}, "batch.by must be 'questions'"),
        ({"batch": {"by": "questions", "others": 2}, "teacher": {"model": "m"}}, "a teacher scores"),
    ],
)
def test_others_belong_to_whole_questions_and_to_no_teacher(decoupled, training, sentence):
    with pytest.raises(ValueError, match=sentence):
        decoupled(**training)


@pytest.mark.parametrize("training", [{"store": "s"}, {"joint_rate": 1e-3}], ids=str)
def test_only_a_decoupled_ranker_has_a_store_and_a_joint_rate(recipe, training):
    with pytest.raises(ValueError, match="for rankers of kind decoupled"):
        recipe(**training)


@pytest.mark.parametrize(
    ("settings", "join", "exits"),
    [
        ({}, 4, (5,)),
        ({"join": 2}, 2, (4,)),
        ({"interaction": "linear"}, 4, (5,)),
        ({"join": 2, "interaction": "lstm"}, 2, (3,)),
        ({"join": 2, "exits": (2, 3)}, 2, (2, 3)),
    ],
)
def test_what_a_recipe_leaves_out_is_dc_berts(encoder_folder, settings, join, exits):
    shape = shape_of(DecoupledModel(kind="decoupled", encoder=str(encoder_folder), **settings))
    assert (shape.join, shape.exits, shape.question_length) == (join, exits, 50)


def test_it_starts_from_a_trained_cascade(decoupled, cascade_folder):
    folder = train(decoupled(model={"encoder": str(cascade_folder), "join": 2, "exits": [4]}, epochs=1))
    assert Ranker.load(folder).exits == (4,)


def test_a_mistake_in_the_recipe_is_one_sentence(content_in, tmp_path):
    content = content_in(tmp_path)
    content["model"] = {"kind": "decoupled", "encoder": "e", "tower": "two"}
    with pytest.raises(CascadaError, match=r"unknown key model\.tower; did you mean towers\?"):
        validated(content, "recipe")


def test_a_ranker_may_learn_from_another_one_alone(recipe, cascade_folder):
    teacher = {"model": str(cascade_folder), "share": 1.0, "temperature": 1.0}
    folder = train(recipe("student", teacher=teacher, epochs=1))
    first, *_ = history(folder)["train"]
    assert first["loss"] < 0.1, "an untrained teacher sides with nobody; from the labels it would be about 0.5"
    assert (folder / "teacher.npz").exists()


def test_the_teachers_opinion_has_its_share_of_the_loss():
    logits = torch.tensor([[0.0, 1.0], [0.5, 0.0]])
    loss, same, other = torch.tensor(2.0), torch.tensor([1.0, -0.5]), torch.tensor([0.0, 0.0])
    settings = TeacherSettings(model="m", share=0.25, temperature=1.0)
    assert mixed(loss, logits, None, settings) == 2
    assert mixed(loss, logits, same, settings).item() == pytest.approx(1.5)
    half, own = torch.full((2, 2), 0.5), logits.softmax(-1)
    divergence = (half * (half / own).log()).sum() / 2
    assert mixed(loss, logits, other, settings).item() == pytest.approx(1.5 + 0.25 * divergence.item())


def test_scores_that_are_there_are_not_computed_again(data, cascade_folder, ranker_folder, tmp_path):
    groups = load_groups(str(data / "dev.jsonl"))
    settings = TeacherSettings(model=str(cascade_folder))
    before = taught_scores(settings, groups, tmp_path)
    asked = []
    np.testing.assert_array_equal(taught_scores(settings, groups, tmp_path, asked.append), before)
    assert asked == []
    other = taught_scores(TeacherSettings(model=str(ranker_folder)), groups, tmp_path, asked.append)
    assert sum(asked) == len(before)
    assert not np.array_equal(other, before)
    first = Ranker.load(ranker_folder).rank(groups[0].question, groups[0].texts)
    assert {item.index: np.float32(item.raw_score) for item in first} == dict(enumerate(other[: len(first)]))
    asked.clear()
    changed = [dataclasses.replace(groups[0], question="another?"), *groups[1:]]
    taught_scores(TeacherSettings(model=str(ranker_folder)), changed, tmp_path, asked.append)
    assert sum(asked) == len(before), "other texts, as many"


def test_a_teacher_is_asked_only_for_pairs_that_are_trained_on(recipe, data, cascade_folder, tmp_path):
    folder = train(recipe("student", teacher={"model": str(cascade_folder)}, epochs=1, negatives=1))
    groups = load_groups(str(data / "train.jsonl"))
    labels = np.array([label for group in groups for label in group.labels])
    taught = np.load(folder / "teacher.npz")["scores"]
    everyone = taught_scores(TeacherSettings(model=str(cascade_folder)), groups, tmp_path)
    used = taught != 0
    assert used[labels == 1].all()
    assert used.sum() == 2 * len(groups)
    np.testing.assert_allclose(taught[used], everyone[used], atol=1e-5)


def test_a_teacher_without_probabilities_is_refused(data, tmp_path):
    with pytest.raises(CascadaError, match=r"training\.teacher: its scores are no probabilities"):
        taught_scores(TeacherSettings(model="bm25"), load_groups(str(data / "dev.jsonl")), tmp_path)


def test_the_folder_tells_what_it_is(decoupled):
    folder = train(decoupled(epochs=1, model={"exits": [2]}))
    about = json.loads((folder / "cascada.json").read_text())
    assert (about["kind"], about["join"], about["exits"]) == ("decoupled", 1, [2])
    assert "decoupled" in (folder / "README.md").read_text()
