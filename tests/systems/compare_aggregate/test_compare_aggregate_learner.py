"""Training a compare-aggregate network, from its recipe to its folder."""

import json
import random

import pytest
import torch
from trained import history, weights

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.objectives.levels import SCHEMES
from cascada.systems.compare_aggregate.folder import load
from cascada.training import trainer as trainer_module
from cascada.training.recipes import parse_recipe
from cascada.training.single_run import build_trainer, train_model
from cascada.training.study import StudyRecipe, run_study

SMALL = {"kind": "compare-aggregate", "embedding": 16, "hidden": 16, "channels": 8, "widths": [1, 2]}
QUESTIONS = {"by": "questions", "size": 10}


def matching_groups(words, questions, seed, candidates=5):
    """Only the correct sentence contains a word of the question, which a network that compares words should find."""
    rng = random.Random(seed)
    for _ in range(questions):
        question = rng.sample(words, 2)
        others = [word for word in words if word not in question]
        texts = [rng.choices(others, k=rng.randint(2, 6)) for _ in range(candidates)]
        correct = rng.randrange(candidates)
        texts[correct].insert(rng.randint(0, 2), rng.choice(question))
        labelled = [{"text": " ".join(text), "label": int(place == correct)} for place, text in enumerate(texts)]
        yield {"question": " ".join(question), "candidates": labelled}


@pytest.fixture(scope="session")
def matching(tmp_path_factory, words):
    """train.jsonl and dev.jsonl."""
    folder = tmp_path_factory.mktemp("matching")
    for name, questions, seed in (("train", 60, 1), ("dev", 20, 2)):
        records = matching_groups(words[:20], questions, seed)
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


@pytest.fixture(scope="session")
def content_of(matching):
    """A compare-aggregate recipe as a mapping."""

    def content(folder, output="run", scheme="PRI(list)", model=None, **training):
        settings = {"epochs": 1, "learning_rate": 2e-2, "schedule": "constant", "batch": QUESTIONS, **training}
        return {
            "output": str(folder / output),
            "train": {"source": str(matching / "train.jsonl")},
            "dev": {"source": str(matching / "dev.jsonl")},
            "model": {**SMALL, "levels": scheme, **(model or {})},
            "training": settings,
        }

    return content


@pytest.fixture
def hierarchical(content_of, tmp_path):
    return lambda *args, **options: parse_recipe(content_of(tmp_path, *args, **options), "recipe")


@pytest.fixture(scope="session")
def vectors(tmp_path_factory, words):
    """A GloVe file with vectors of size 4, which lacks one word."""
    path = tmp_path_factory.mktemp("vectors") / "glove.txt"
    path.write_text("".join(f"{word} {at / 50} 1 -1 {at % 7}\n" for at, word in enumerate(words) if at != 3))
    return path


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_learns(hierarchical, scheme):
    folder = train_model(hierarchical(scheme=scheme, epochs=8, warmup=0))
    assert max(row["MAP"] for row in history(folder)["dev"]) > 0.9  # guessing gives .46


def test_what_lands_in_the_folder(hierarchical, matching):
    folder = train_model(hierarchical())
    assert {path.name for path in folder.iterdir()} == {
        *("README.md", "cascada.json", "curve.png", "history.json", "model.safetensors", "recipe.yaml", "words.txt")
    }
    assert "from\nrandom weights on" in (folder / "README.md").read_text()
    ranker = Ranker.load(folder)
    assert ranker.exits == (0,)
    group = json.loads((matching / "dev.jsonl").read_text().splitlines()[0])
    assert len(ranker.rank(group["question"], group["candidates"])) == 5


def test_the_history_has_each_levels_loss(hierarchical):
    rows = history(train_model(hierarchical(scheme="MTL", objective={"point": 2})))["train"]
    for row in rows:
        expected = 2 * row["loss_point"] + row["loss_pair"] + row["loss_list"]
        assert row["loss"] == pytest.approx(expected, abs=2e-4)  # which the trainer rounds


def test_a_killed_run_ends_with_the_weights_of_an_uninterrupted_one(hierarchical, vectors, monkeypatch):
    model = {"vectors": {"source": str(vectors), "learning_rate": 1e-3}}
    settings = {"checkpoint_every": 3, "epochs": 2}
    whole = train_model(hierarchical("whole", model=model, **settings))
    real = trainer_module.mark_complete

    def stop(*args, **options):
        real(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer_module, "mark_complete", stop)
    for _ in range(2):  # after update 3, and after update 6, which ends the first epoch
        with pytest.raises(KeyboardInterrupt):
            train_model(hierarchical("stopped", model=model, **settings))
    monkeypatch.setattr(trainer_module, "mark_complete", real)
    stopped = train_model(hierarchical("stopped", model=model, **settings))
    assert weights(stopped) == weights(whole)
    assert history(stopped)["train"] == history(whole)["train"]


@pytest.mark.parametrize("rate", [None, 1e-3])
def test_vectors_are_frozen_or_tuned(hierarchical, vectors, words, rate, tmp_path):
    model = {"vectors": {"source": str(vectors), "learning_rate": rate}}
    recipe = hierarchical(model=model, epochs=1)
    trainer = build_trainer(recipe, tmp_path)
    start = trainer.learner.model.embedding.weight.detach().clone()
    vocabulary = trainer.learner.words.vocabulary
    (lacking,) = vocabulary.ids(words[3])
    assert not start[:2].any(), "padding and unknown words"
    assert not start[lacking].any(), "a word without a vector"
    assert start[vocabulary.ids(words[5])[0]].tolist() == pytest.approx([0.1, 1, -1, 5])
    trained, _ = load(train_model(recipe))
    assert trained.shape.embedding == 4
    assert torch.equal(trained.embedding.weight, start) is (rate is None)


def test_only_the_vectors_have_their_learning_rate(hierarchical, vectors, tmp_path):
    trainer = build_trainer(hierarchical(model={"vectors": {"source": str(vectors), "learning_rate": 1e-3}}), tmp_path)
    optimizer = trainer.create_optimizer()
    rates = {id(weight): group["lr"] for group in optimizer.param_groups for weight in group["params"]}
    named = dict(trainer.model.named_parameters())
    assert len(rates) == len(named)
    assert {name: rates[id(weight)] for name, weight in named.items()} == {
        name: 1e-3 if name == "embedding.weight" else 2e-2 for name in named
    }


def test_the_vocabulary_covers_further_data_if_asked_to(hierarchical, tmp_path):
    (tmp_path / "more.jsonl").write_text(
        json.dumps({"question": "unheard", "candidates": [{"text": "novelty", "label": 1}]}) + "\n"
    )
    for vocabulary, known in (([], False), ([{"source": str(tmp_path / "more.jsonl")}], True)):
        trainer = build_trainer(hierarchical(model={"vocabulary": vocabulary}), tmp_path)
        assert ("novelty" in trainer.learner.words.vocabulary.words) is known


def test_the_same_seed_gives_the_same_weights(hierarchical):
    first, again, other = (train_model(hierarchical(name, seed=seed)) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert weights(first) == weights(again) != weights(other)


MISTAKES = {
    "batches that split questions": (
        {"batch": {"by": "pairs", "size": 8}},
        {},
        "training.batch.by is 'pairs': pair and list compare a question's candidates, so it must be 'questions'.",
    ),
    "bfloat16": (
        {"precision": "bfloat16"},
        {},
        "precision is bfloat16, but a compare-aggregate network is trained in float32.",
    ),
    "an unknown scheme": ({}, {"levels": "PRI(pair)"}, "model.levels is 'PRI(pair)': there are CA(point), "),
    "levels in no order": (
        {},
        {"levels": {"list": ["pair"], "pair": []}},
        "model.levels: level list reads pair, which is not a level before it.",
    ),
    "an unknown main level": ({}, {"main": "word"}, "model: the main level is word, but the levels are point, pair"),
    "an unknown key": ({}, {"channel": 3}, "unknown key model.channel; did you mean channels?"),
    "a transformer's key": (
        {},
        {"encoder": "e"},
        "unknown key model.encoder; it is for rankers of kind transformer or decoupled and for readers.",
    ),
    "an unknown kind": (
        {},
        {"kind": "forest"},
        "model.kind is 'forest'; there are transformer, compare-aggregate and decoupled.",
    ),
}


@pytest.mark.parametrize(("training", "model", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence(content_of, tmp_path, training, model, said):
    with pytest.raises(CascadaError) as caught:
        parse_recipe(content_of(tmp_path, model=model, **training), "recipe")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_point_level_can_be_trained_with_batches_of_any_kind(hierarchical):
    assert train_model(hierarchical(scheme="CA(point)", batch={"by": "tokens", "size": 200}))


def test_a_study_measures_one_model_at_several_levels_and_draws_losses(content_of, matching, tmp_path):
    base = content_of(tmp_path, scheme="MTL")
    study = StudyRecipe(
        kind="study",
        output=str(tmp_path / "study"),
        base=base,
        variants={"CA(list)": {"model.levels": "CA(list)"}, "MTL(list)": {}},
        readings={"MTL(point)": {"of": "MTL(list)", "level": "point"}},
        losses={"list": ["CA(list)", "MTL(list)"]},
        test={"dev": {"source": str(matching / "dev.jsonl")}},
        seeds=[1],
    )
    rows = run_study(study)["rows"]
    assert [row["variant"] for row in rows] == ["CA(list)", "MTL(list)", "MTL(point)"]
    assert Ranker.load(tmp_path / "study" / "mtl-list-seed1" / "at-point").exits == (0,)
    assert (tmp_path / "study" / "losses.png").read_bytes()[:4] == b"\x89PNG"
    other = {"MTL(pair)": study.readings["MTL(point)"].model_copy(update={"of": "MTL"})}
    with pytest.raises(CascadaError, match=r"readings.MTL\(pair\) names MTL, which is not a variant"):
        run_study(study.model_copy(update={"readings": other}))
