"""Training a decoupled ranker."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from trained import history

from cascada.core.errors import CascadaError
from cascada.core.folder import read_shape
from cascada.core.probe import can_run
from cascada.data import Candidate, Group
from cascada.data import load as load_groups
from cascada.encoders.encoder import load_encoder
from cascada.ranking import Ranker
from cascada.store import Store
from cascada.systems.decoupled.engine_torch import TorchEngine
from cascada.systems.decoupled.examples import SideExamples
from cascada.systems.decoupled.folder import begin, load
from cascada.systems.decoupled.learner import freeze_documents, shape_of
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.settings import DecoupledModel
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.decoupled.stages import stages_of
from cascada.text.context import InContext
from cascada.text.sides import SideTokenizer
from cascada.training.recipes import parse_recipe
from cascada.training.single_run import build_trainer, train_model

CASCADE = {"kind": "decoupled", "join": 1, "exits": [1, 2, 3], "max_length": 24, "question_length": 8}


@pytest.fixture
def decoupled(content_in, tmp_path, encoder_folder):
    """A recipe for a decoupled ranker."""

    def of(output="run", model=None, **training):
        content = content_in(tmp_path, output, **training)
        content["model"] = {"encoder": str(encoder_folder), **CASCADE, **(model or {})}
        return parse_recipe(content, "recipe")

    return of


def test_a_decoupled_cascade_learns_at_all_of_its_exits(decoupled, data):
    folder = train_model(decoupled(epochs=3, exits={"sample": "all"}, learning_rate=3e-3))
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
    folder = train_model(decoupled(model=settings, epochs=1))
    shape = load(folder).shape
    assert (shape.interaction, shape.exits, shape.towers, shape.keep) == (interaction, (2,), "shared", 8)


def test_a_trained_ranker_can_be_given_a_projection_that_starts_from_its_encodings(decoupled, tmp_path):
    trained = train_model(decoupled("trained", model={"exits": [1]}, epochs=1))
    fewer = {"exits": [1], "keep": 24, "encoder": str(trained)}
    model = build_trainer(decoupled("fewer", model=fewer), tmp_path / "fewer").model
    assert all(map(torch.equal, model.document.state_dict().values(), load(trained).document.state_dict().values()))
    torch.testing.assert_close(model.down.weight @ model.down.weight.T, torch.eye(24), atol=1e-4, rtol=0)
    assert model.down.bias.abs().max() > 0.1, "it subtracts the mean encoding"
    folder = train_model(decoupled("fewer-trained", model=fewer, epochs=1))
    with pytest.raises(CascadaError, match="and `keep` where it has none"):
        build_trainer(decoupled("fewest", model=fewer | {"keep": 8, "encoder": str(folder)}), tmp_path / "fewest")


def test_the_first_layer_above_the_join_may_start_by_matching(decoupled, tmp_path):
    starts, types = {}, {}
    for start in ("copy", "matching"):
        model = build_trainer(decoupled(start, model={"start": start}), tmp_path / start).model
        starts[start] = [layer.attention.self for layer in model.interaction.layers]
        types[start] = model.meet.types.detach()
    copied, matching = starts["copy"], starts["matching"]
    assert torch.equal(matching[0].query.weight, matching[0].key.weight)
    assert not torch.equal(copied[0].query.weight, copied[0].key.weight)
    rotation = matching[0].query.weight
    question, mark = types["matching"] - types["copy"]
    assert mark.norm() > 0.1
    torch.testing.assert_close(question, -mark)
    torch.testing.assert_close(rotation @ mark, torch.zeros(32), atol=1e-4, rtol=0)  # attention does not see the mark
    lengths = torch.linalg.svdvals(rotation)
    torch.testing.assert_close(lengths[:-1], lengths[:1].expand(31), atol=1e-4, rtol=1e-4)
    assert torch.equal(matching[0].value.weight, copied[0].value.weight)
    assert torch.equal(matching[1].query.weight, copied[1].query.weight)
    folder = train_model(decoupled("trained", model={"start": "matching"}, epochs=1))
    with pytest.raises(CascadaError, match="has trained layers above the join, which would be lost"):
        build_trainer(decoupled("again", model={"start": "matching", "encoder": str(folder)}), tmp_path / "again")
    with pytest.raises(CascadaError, match="no layer above the join"):
        build_trainer(decoupled("flat", model={"start": "matching", "exits": [1]}), tmp_path / "flat")
    with pytest.raises(ValueError, match="start is 'matching', which is for layers"):
        decoupled("lstm", model={"start": "matching", "interaction": "lstm", "exits": [2]})


def test_own_candidates_documents_of_others_and_teachers_teach_together(decoupled, data, cascade_folder, tmp_path):
    """`negatives` of a question's own candidates, in-batch negatives, and a teacher of lists."""
    settings = {
        "negatives": 2,
        "batch": {"by": "questions", "size": 4, "others": 3},
        "objective": {"list": 1},
        "teacher": {"model": str(cascade_folder), "level": "list", "share": 0.5, "bonus": 3},  # it knows nothing
        "learning_rate": 3e-3,
    }
    recipe = decoupled(model={"exits": [3], "start": "matching"}, epochs=4, **settings)
    examples = build_trainer(recipe, tmp_path).learner.examples
    first = [int(row) for row in range(len(examples)) if examples.owner[row] < 2]
    batch = examples.collate(first)
    more = slice(len(first), None)
    assert len(batch["teacher_scores"]) == len(batch["labels"]) == len(batch["owner"]) > len(first)
    lowest = {
        int(owner): batch["teacher_scores"][: len(first)][batch["owner"][: len(first)] == owner].min()
        for owner in (0, 1)
    }
    for owner, score, label in zip(
        batch["owner"][more], batch["teacher_scores"][more], batch["labels"][more], strict=True
    ):
        assert (score, label) == (lowest[int(owner)] - 1, 0)
    best = max(row["MAP"] for row in history(train_model(recipe))["dev"])
    assert best > 0.6, "by chance it would be 0.46"


def test_a_batch_contains_each_of_its_questions_once(data, encoder_folder):
    tokenizer = SideTokenizer.load(encoder_folder, question_length=8, max_length=16, pad_id=0)
    groups = load_groups(str(data / "train.jsonl"))[:3]
    examples = SideExamples.of(groups, tokenizer)
    rows = [11, 0, 3, 12]
    batch = examples.collate(rows)
    assert batch["question_of"].tolist() == [1, 0, 0, 1]
    assert batch["question"].shape[0] == 2
    decode = tokenizer.document.tokenizer.decode
    texts = [text for group in groups for text in group.texts]
    for place, row in enumerate(rows):
        assert decode(batch["text"][place].tolist()) == texts[row]
        assert batch["text_mask"][place].sum() == len(texts[row].split()) + 2
        question = batch["question"][batch["question_of"][place]]
        assert decode(question.tolist()) == groups[row // 5].question
    assert examples.encoded.lengths[0] == len(groups[0].question.split()) + len(texts[0].split()) + 4


@pytest.mark.parametrize("exits", [(2,), (2, 3)])
def test_a_context_is_read_and_not_compared_as_in_ranking(data, encoder_folder, words, exits):
    tokenizer = SideTokenizer.load(encoder_folder, question_length=8, max_length=16, pad_id=0)
    texts = [InContext(words[3], f"{words[5]} {words[6]}"), words[4], InContext(" ".join(words[:20]), words[9])]
    group = Group(words[3], tuple(Candidate(text, int(place == 0)) for place, text in enumerate(texts)))
    shape = DecoupledShape(join=2, exits=exits, max_length=16, question_length=8, towers="shared", match="late")
    model = DecoupledRanker(load_encoder(encoder_folder), shape).eval()
    inputs = SideExamples.of([group], tokenizer).collate([0, 1, 2])
    assert inputs["context"].tolist() == [3, 0, 0]  # the third is too long: its context was cut
    logits = model(**{name: value for name, value in inputs.items() if name not in ("labels", "owner")}, exits=exits)
    ranker = Ranker(stages_of(TorchEngine(model, tokenizer)))
    expected = next(iter(ranker.exit_scores([(group.question, list(group.texts))])))
    for exit, scores in zip(exits, expected, strict=True):
        assert (logits[exit][:, 1] - logits[exit][:, 0]).tolist() == pytest.approx(scores.tolist(), abs=1e-4)
    without = next(iter(ranker.exit_scores([(group.question, [words[3], *texts[1:]])])))
    assert without[0, 0] != expected[0, 0]


def test_questions_are_compared_with_documents_of_other_questions(data, encoder_folder):
    tokenizer = SideTokenizer.load(encoder_folder, question_length=8, max_length=16, pad_id=0)
    groups = load_groups(str(data / "train.jsonl"))[:3]
    correct = next(candidate for candidate in groups[0].candidates if candidate.label)
    groups[1] = dataclasses.replace(
        groups[1], candidates=(*groups[1].candidates[:4], dataclasses.replace(correct, label=0))
    )
    texts = tuple(text for group in groups for text in group.texts)
    examples = dataclasses.replace(SideExamples.of(groups, tokenizer), texts=texts, others=3)
    rows = [0, 1, 2, 5, 6, 9, 10, 14]
    batch = examples.collate(rows)
    columns = (batch[name].tolist() for name in ("question_of", "document_of", "labels"))
    pairs = list(zip(*columns, strict=True))
    assert pairs[:8] == [(row // 5, place, examples.labels[row]) for place, row in enumerate(rows)]
    assert [question for question, _, _ in pairs[8:]] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert batch["owner"].tolist() == batch["question_of"].tolist()
    assert batch["text"].shape[0] == len(rows)
    for question, document, label in pairs[8:]:
        assert label == 0
        assert rows[document] // 5 != question
        assert (question, texts[rows[document]]) != (0, correct.text), "it is correct for this question, too"
    again = examples.collate(rows)
    assert all(torch.equal(batch[name], again[name]) for name in batch), "a resumed run draws the same documents"


def test_with_a_store_the_document_tower_is_frozen(decoupled, data, encoder_folder, tmp_path):
    store = tmp_path / "documents.store"
    settings = {"batch": {"by": "questions", "size": 4, "others": 2}, "objective": {"point": 1, "list": 1}}
    changes = {"store": str(store), "learning_rate": 3e-3, "exits": {"sample": "all"}, **settings}
    folder = train_model(decoupled(model={"exits": [2, 3]}, epochs=2, **changes))
    model, start = load(folder), load_encoder(encoder_folder)
    for own, before in zip(model.document.layers[0].parameters(), start.layers[0].parameters(), strict=True):
        assert torch.equal(own, before)
    trained = zip(model.question.layers[0].parameters(), start.layers[0].parameters(), strict=True)
    assert not all(torch.equal(own, before) for own, before in trained)
    group = load_groups(str(data / "dev.jsonl"))[0]
    assert not Store.open(store, fingerprint=read_shape(folder)["fingerprint"]).missing(group.texts)
    ranking = Ranker.load(folder, store=store).rank(group.question, group.texts)
    assert len(ranking) == len(group.texts)
    other = {"join": 2, "exits": [3]}
    with pytest.raises(CascadaError, match="another model"):
        train_model(decoupled("other", model=other, epochs=1, **changes))


@pytest.mark.skipif(not can_run("torch bfloat16"), reason="torch does not run in bfloat16 on this processor")
def test_a_store_is_filled_in_the_recipes_precision(decoupled, data, tmp_path):
    encodings = {}
    for precision in ("float32", "bfloat16"):
        settings = {"store": str(tmp_path / precision), "precision": precision}
        learner = build_trainer(decoupled(precision, **settings), tmp_path / f"run-{precision}").learner
        encodings[precision] = learner.store.get(load_groups(str(data / "train.jsonl"))[0].texts)
    exact, rounded = (np.concatenate(encodings[precision]) for precision in ("float32", "bfloat16"))
    assert not np.array_equal(exact, rounded)
    np.testing.assert_allclose(rounded, exact, atol=0.05)


def test_layers_above_the_join_may_have_their_own_learning_rate(decoupled, tmp_path):
    trainer = build_trainer(decoupled(learning_rate=1e-4, joint_rate=1e-3), tmp_path)
    rates = {id(weight): group["lr"] for group in trainer.create_optimizer().param_groups for weight in group["params"]}
    parts = {}
    for name, weight in trainer.model.named_parameters():
        parts.setdefault(name.split(".")[0], set()).add(rates[id(weight)])
    above = {name: {1e-3} for name in ("meet", "interaction", "classifiers")}
    assert parts == {"document": {1e-4}, "question": {1e-4}, "cosine": {1e-2}, **above}


def test_a_frozen_shared_tower_encodes_questions_without_dropout_and_gradient(encoder_folder):
    model = begin(str(encoder_folder), DecoupledShape(2, (3,), towers="shared", max_length=24, question_length=8))
    freeze_documents(model)
    model.train()
    ids = torch.tensor([[2, 5, 6, 3]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    once, again = (model.encode_question(ids, mask) for _ in range(2))
    assert torch.equal(once, again)
    assert not once.requires_grad


def test_a_shared_tower_above_a_store_has_no_dropout_whatever_the_recipe_says(decoupled, tmp_path):
    settings = {"store": str(tmp_path / "documents.store"), "encoder_dropout": 0.3}
    model = build_trainer(decoupled(model={"exits": [2], "towers": "shared"}, **settings), tmp_path / "run").model
    frozen = {part.p for part in model.document.modules() if isinstance(part, torch.nn.Dropout)}
    trained = {part.p for part in model.interaction.modules() if isinstance(part, torch.nn.Dropout)}
    assert (frozen, trained) == ({0.0}, {0.3})


@pytest.mark.parametrize(
    ("training", "sentence"),
    [
        ({"batch": {"by": "pairs", "others": 2}}, "batch.by must be 'questions'"),
        ({"batch": {"by": "questions", "others": 2}, "teacher": {"model": "m"}}, "a teacher scores only"),
    ],
)
def test_in_batch_negatives_need_whole_questions_and_no_teacher(decoupled, training, sentence):
    with pytest.raises(ValueError, match=sentence):
        decoupled(**training)


@pytest.mark.parametrize("training", [{"store": "s"}, {"joint_rate": 1e-3}, {"batch": {"others": 2}}], ids=str)
def test_only_a_decoupled_ranker_has_a_store_a_joint_rate_and_in_batch_negatives(recipe, training):
    with pytest.raises(CascadaError, match=r"unknown key training\.[a-z_.]+; it is for rankers of kind decoupled\."):
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
def test_the_defaults_are_dc_berts(encoder_folder, settings, join, exits):
    shape = shape_of(DecoupledModel(kind="decoupled", encoder=str(encoder_folder), **settings))
    assert (shape.join, shape.exits, shape.question_length) == (join, exits, 50)


def test_it_starts_from_a_trained_cascade(decoupled, cascade_folder):
    folder = train_model(decoupled(model={"encoder": str(cascade_folder), "join": 2, "exits": [4]}, epochs=1))
    assert Ranker.load(folder).exits == (4,)


def test_a_mistake_in_the_recipe_is_one_sentence(content_in, tmp_path):
    content = content_in(tmp_path)
    content["model"] = {"kind": "decoupled", "encoder": "e", "tower": "two"}
    with pytest.raises(CascadaError, match=r"unknown key model\.tower; did you mean towers\?"):
        parse_recipe(content, "recipe")


def test_the_folder_names_kind_and_shape(decoupled):
    folder = train_model(decoupled(epochs=1, model={"exits": [2]}))
    shape = json.loads((folder / "cascada.json").read_text())
    assert (shape["kind"], shape["join"], shape["exits"]) == ("decoupled", 1, [2])
    assert "decoupled" in (folder / "README.md").read_text()
