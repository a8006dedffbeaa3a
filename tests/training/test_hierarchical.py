"""Hierarchical ranking from its recipe to its folder: compare-aggregate at every level, and a cascade's exits."""

import json
import random

import pytest
import torch
from trained import history, weights

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.objectives.levels import SCHEMES
from cascada.systems.compare_aggregate.folder import load
from cascada.training import trainer
from cascada.training.recipes import validated
from cascada.training.run import prepare, train
from cascada.training.settings import Recipe
from cascada.training.study import StudyRecipe, run_study

SMALL = {"kind": "compare-aggregate", "embedding": 16, "hidden": 16, "channels": 8, "widths": [1, 2]}
QUESTIONS = {"by": "questions", "size": 10}


def matching_groups(words, questions, seed, candidates=5):
    """Only the correct sentence holds a word of the question: what a network that compares words should find."""
    rng = random.Random(seed)
    for _ in range(questions):
        asked = rng.sample(words, 2)
        others = [word for word in words if word not in asked]
        texts = [rng.choices(others, k=rng.randint(2, 6)) for _ in range(candidates)]
        right = rng.randrange(candidates)
        texts[right].insert(rng.randint(0, 2), rng.choice(asked))
        labelled = [{"text": " ".join(text), "label": int(place == right)} for place, text in enumerate(texts)]
        yield {"question": " ".join(asked), "candidates": labelled}


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
    return lambda *args, **options: Recipe.model_validate(content_of(tmp_path, *args, **options))


@pytest.fixture(scope="session")
def vectors(tmp_path_factory, words):
    """A GloVe file of four numbers a word, which lacks one."""
    path = tmp_path_factory.mktemp("vectors") / "glove.txt"
    path.write_text("".join(f"{word} {at / 50} 1 -1 {at % 7}\n" for at, word in enumerate(words) if at != 3))
    return path


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_learns(hierarchical, scheme):
    folder = train(hierarchical(scheme=scheme, epochs=12, warmup=0))
    assert max(row["MAP"] for row in history(folder)["dev"]) > 0.9  # guessing gives .46


def test_what_lands_in_the_folder(hierarchical, matching):
    folder = train(hierarchical())
    assert {path.name for path in folder.iterdir()} == {
        *("README.md", "cascada.json", "curve.png", "history.json", "model.safetensors", "recipe.yaml", "words.txt")
    }
    assert "from\nrandom weights on" in (folder / "README.md").read_text()
    ranker = Ranker.load(folder)
    assert ranker.exits == (0,)
    group = json.loads((matching / "dev.jsonl").read_text().splitlines()[0])
    assert len(ranker.rank(group["question"], group["candidates"])) == 5


def test_the_history_has_each_levels_loss(hierarchical):
    rows = history(train(hierarchical(scheme="MTL", objective={"point": 2})))["train"]
    for row in rows:
        expected = 2 * row["loss_point"] + row["loss_pair"] + row["loss_list"]
        assert row["loss"] == pytest.approx(expected, abs=2e-4)  # which the trainer rounds


def test_a_killed_run_ends_with_the_weights_of_one_never_killed(hierarchical, vectors, monkeypatch):
    model = {"vectors": {"source": str(vectors), "learning_rate": 1e-3}}
    settings = {"checkpoint_every": 3, "epochs": 2}
    whole = train(hierarchical("whole", model=model, **settings))
    real = trainer.mark_complete

    def stop(*args, **options):
        real(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "mark_complete", stop)
    for _ in range(2):  # after update 3, and after update 6, which ends the first epoch
        with pytest.raises(KeyboardInterrupt):
            train(hierarchical("stopped", model=model, **settings))
    monkeypatch.setattr(trainer, "mark_complete", real)
    stopped = train(hierarchical("stopped", model=model, **settings))
    assert weights(stopped) == weights(whole)
    assert history(stopped)["train"] == history(whole)["train"]


@pytest.mark.parametrize("rate", [None, 1e-3])
def test_vectors_stay_or_are_tuned(hierarchical, vectors, words, rate, tmp_path):
    model = {"vectors": {"source": str(vectors), "learning_rate": rate}}
    recipe = hierarchical(model=model, epochs=1)
    made = prepare(recipe, tmp_path)
    start = made.learner.model.embedding.weight.detach().clone()
    vocabulary = made.learner.words.vocabulary
    (lacking,) = vocabulary.ids(words[3])
    assert not start[:2].any(), "padding and unknown words"
    assert not start[lacking].any(), "a word without a vector"
    assert start[vocabulary.ids(words[5])[0]].tolist() == pytest.approx([0.1, 1, -1, 5])
    trained, _ = load(train(recipe))
    assert trained.shape.embedding == 4
    assert torch.equal(trained.embedding.weight, start) is (rate is None)


def test_the_vectors_rate_is_theirs_alone(hierarchical, vectors, tmp_path):
    made = prepare(hierarchical(model={"vectors": {"source": str(vectors), "learning_rate": 1e-3}}), tmp_path)
    optimizer = made.create_optimizer()
    rates = {id(weight): group["lr"] for group in optimizer.param_groups for weight in group["params"]}
    named = dict(made.model.named_parameters())
    assert len(rates) == len(named)
    assert {name: rates[id(weight)] for name, weight in named.items()} == {
        name: 1e-3 if name == "embedding.weight" else 2e-2 for name in named
    }


def test_words_of_other_data_are_known_if_asked_for(hierarchical, tmp_path):
    (tmp_path / "more.jsonl").write_text(
        json.dumps({"question": "unheard", "candidates": [{"text": "novelty", "label": 1}]}) + "\n"
    )
    for vocabulary, known in (([], False), ([{"source": str(tmp_path / "more.jsonl")}], True)):
        made = prepare(hierarchical(model={"vocabulary": vocabulary}), tmp_path)
        assert ("novelty" in made.learner.words.vocabulary.words) is known


def test_the_same_seed_gives_the_same_weights(hierarchical):
    first, again, other = (train(hierarchical(name, seed=seed)) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert weights(first) == weights(again) != weights(other)


MISTAKES = {
    "batches that tear lists apart": (
        {"batch": {"by": "pairs", "size": 8}},
        {},
        "training.batch.by is 'pairs': pair and list compare a question's candidates, so it must be 'questions'.",
    ),
    "an unknown scheme": ({}, {"levels": "PRI(pair)"}, "model.levels is 'PRI(pair)': there are CA(point), "),
    "levels in no order": (
        {},
        {"levels": {"list": ["pair"], "pair": []}},
        "model.levels: level list reads pair, which is not a level above it.",
    ),
    "an unknown main level": ({}, {"main": "word"}, "model: the main level is word, but the levels are point, pair"),
    "an unknown key": ({}, {"channel": 3}, "unknown key model.channel; did you mean channels?"),
    "a transformer's key": ({}, {"encoder": "e"}, "unknown key model.encoder"),
    "an unknown kind": (
        {},
        {"kind": "forest"},
        "model: its kind should be transformer, compare-aggregate or decoupled.",
    ),
}


@pytest.mark.parametrize(("training", "model", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence(content_of, tmp_path, training, model, said):
    with pytest.raises(CascadaError) as caught:
        validated(content_of(tmp_path, model=model, **training), "recipe")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_point_level_may_be_learned_in_batches_of_any_kind(hierarchical):
    assert train(hierarchical(scheme="CA(point)", batch={"by": "tokens", "size": 200}))


# A study


def test_a_study_reads_one_model_at_several_levels_and_draws_losses(content_of, matching, tmp_path):
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
    with pytest.raises(CascadaError, match=r"readings.MTL\(pair\) is MTL, which is none of the variants"):
        run_study(study.model_copy(update={"readings": other}))


# On a transformer


CASCADE = {"layers": 4, "exits": [2, 4], "head": "mean"}
ALL = {"point": 1, "pair": 1, "list": 1}


@pytest.mark.parametrize(
    "objective", [{"pair": 1, "against": "hardest"}, {"list": 1}, ALL], ids=["pair", "list", "all"]
)
def test_a_cascades_exits_learn_from_groups(recipe, objective):
    folder = train(recipe(model=CASCADE, epochs=12, learning_rate=3e-3, batch=QUESTIONS, objective=objective))
    best = max(history(folder)["dev"], key=lambda row: row["MAP"])
    assert best["MAP"] > 0.9
    assert best["MAP@2"] > 0.7  # guessing gives .46
    parts = {key for key in history(folder)["train"][0] if key.startswith("loss_")}
    assert parts == ({f"loss_{name}" for name in ALL} if objective is ALL else set())


def test_a_cascade_that_learned_at_levels_is_a_cascade_like_any_other(recipe, tmp_path):
    from cascada.systems.export import export

    model = {**CASCADE, "levels": "PRI(list)"}
    folder = train(recipe(model=model, epochs=12, learning_rate=3e-3, batch=QUESTIONS))
    best = max(history(folder)["dev"], key=lambda row: row["MAP"])
    assert best["MAP"] > 0.9
    assert {key for key in history(folder)["train"][0] if key.startswith("loss_")} == {f"loss_{name}" for name in ALL}
    export(folder, tmp_path / "out", "fp32")
    texts = ["ba da", "ma", "da ka ba"]
    trained, exported = (Ranker.load(place) for place in (folder, tmp_path / "out"))
    assert trained.exits == exported.exits == (2, 4)
    assert exported.score("ba", texts) == pytest.approx(trained.score("ba", texts), abs=1e-4)
    goes_on = train(recipe(output="more", model={**CASCADE, "encoder": str(folder)}, epochs=1, learning_rate=1e-7))
    assert history(goes_on)["dev"][-1]["MAP"] == pytest.approx(best["MAP"], abs=0.02), "its heads are taken over"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"levels": "PRI"}, "there are CA"),
        ({"levels": "MTL", "head": "first"}, "levels need head: mean"),
        ({"main": "list"}, "main names one of levels"),
        ({"levels": "MTL", "main": "word"}, "the main level is word"),
    ],
)
def test_levels_of_a_transformer_that_cannot_be_are_told(content_in, tmp_path, model, said):
    content = content_in(tmp_path)
    content["model"] = {**content["model"], **CASCADE, **model}
    with pytest.raises(CascadaError, match=said):
        validated(content, "recipe")


def test_a_transformer_compares_candidates_in_whole_questions_only(content_in, tmp_path):
    with pytest.raises(CascadaError, match="it must be 'questions'"):
        validated(content_in(tmp_path, objective={"list": 1}), "recipe")
    with pytest.raises(CascadaError, match=r"unknown key training\.objective\.triple"):
        validated(content_in(tmp_path, objective={"triple": 1}), "recipe")


def test_naming_point_changes_nothing(recipe):
    one = train(recipe("one", epochs=1))
    assert weights(train(recipe("two", epochs=1, objective={"point": 1}))) == weights(one)
