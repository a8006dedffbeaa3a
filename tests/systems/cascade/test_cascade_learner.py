"""Training a transformer: what it starts from, and hierarchical ranking at the exits of a cascade."""

import pytest
import torch
from trained import history, weights

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.systems.cascade import folder as checkpoint
from cascada.systems.cut import cut
from cascada.training.recipes import parse_recipe
from cascada.training.single_run import train_model

QUESTIONS = {"by": "questions", "size": 10}
CASCADE = {"layers": 4, "exits": [2, 4], "head": "mean"}
ALL = {"point": 1, "pair": 1, "list": 1}


@pytest.mark.parametrize(
    "objective", [{"pair": 1, "against": "hardest"}, {"list": 1}, ALL], ids=["pair", "list", "all"]
)
def test_the_exits_of_a_cascade_learn_by_comparing_candidates(recipe, objective):
    folder = train_model(recipe(model=CASCADE, epochs=8, learning_rate=3e-3, batch=QUESTIONS, objective=objective))
    best = max(history(folder)["dev"], key=lambda row: row["MAP"])
    assert best["MAP"] > 0.9
    assert best["MAP@2"] > 0.7  # guessing gives .46
    parts = {key for key in history(folder)["train"][0] if key.startswith("loss_")}
    assert parts == ({f"loss_{name}" for name in ALL} if objective is ALL else set())


def test_a_cascade_trained_at_levels_is_saved_as_an_ordinary_cascade(recipe, tmp_path):
    from cascada.systems.export import export

    model = {**CASCADE, "levels": "PRI(list)"}
    folder = train_model(recipe(model=model, epochs=8, learning_rate=3e-3, batch=QUESTIONS))
    best = max(history(folder)["dev"], key=lambda row: row["MAP"])
    assert best["MAP"] > 0.9
    assert {key for key in history(folder)["train"][0] if key.startswith("loss_")} == {f"loss_{name}" for name in ALL}
    export(folder, tmp_path / "out", "fp32")
    texts = ["ba da", "ma", "da ka ba"]
    trained, exported = (Ranker.load(place) for place in (folder, tmp_path / "out"))
    assert trained.exits == exported.exits == (2, 4)
    assert exported.score("ba", texts) == pytest.approx(trained.score("ba", texts), abs=1e-4)
    goes_on = train_model(
        recipe(output="more", model={**CASCADE, "encoder": str(folder)}, epochs=1, learning_rate=1e-7)
    )
    assert history(goes_on)["dev"][-1]["MAP"] == pytest.approx(best["MAP"], abs=0.02), "its heads are taken over"


@pytest.mark.parametrize("name", ["albert", "modernbert", "deberta-v2"])
def test_a_cascade_learns_on_every_kind_of_encoder(recipe, encoder_folders, tmp_path, name):
    from cascada.systems.export import export

    model = {"encoder": str(encoder_folders[name]), "layers": 3, "exits": [0, 1, 3], "head": "mean"}
    folder = train_model(recipe(model=model, epochs=8, learning_rate=3e-3))
    best = max(history(folder)["dev"], key=lambda row: row["MAP"])
    assert best["MAP"] > 0.6  # guessing gives .46
    export(folder, tmp_path / "out", "fp32")
    texts = ["ba da", "ma", "da ka ba"]
    trained, exported = (Ranker.load(place) for place in (folder, tmp_path / "out"))
    assert trained.exits == exported.exits == (0, 1, 3)
    assert exported.score("ba", texts) == pytest.approx(trained.score("ba", texts), abs=1e-4)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"levels": "PRI"}, "there are CA"),
        ({"levels": "MTL", "head": "first"}, "levels need head: mean"),
        ({"main": "list"}, "main names one of the levels, but there are no levels"),
        ({"levels": "MTL", "main": "word"}, "the main level is word"),
    ],
)
def test_impossible_levels_are_rejected(content_in, tmp_path, model, said):
    content = content_in(tmp_path)
    content["model"] = {**content["model"], **CASCADE, **model}
    with pytest.raises(CascadaError, match=said):
        parse_recipe(content, "recipe")


def test_comparing_candidates_needs_batches_of_whole_questions(content_in, tmp_path):
    with pytest.raises(CascadaError, match="it must be 'questions'"):
        parse_recipe(content_in(tmp_path, objective={"list": 1}), "recipe")
    with pytest.raises(CascadaError, match=r"unknown key training\.objective\.triple"):
        parse_recipe(content_in(tmp_path, objective={"triple": 1}), "recipe")


def test_point_is_the_default_objective(recipe):
    one = train_model(recipe("one", epochs=1))
    assert weights(train_model(recipe("two", epochs=1, objective={"point": 1}))) == weights(one)


def test_a_cascade_can_continue_from_a_monolithic_ranker(recipe):
    before = train_model(recipe("mono", {"layers": 4, "head": "mean"}, epochs=1))
    model = checkpoint.begin(str(before), exits=(2, 4), head="mean", max_length=32)
    trained = checkpoint.load(before).state_dict()
    own = model.state_dict()
    assert model.shape.exits == (2, 4)
    assert all(torch.equal(own[name], trained[name]) for name in trained)
    assert {name.split(".")[1] for name in own.keys() - trained.keys()} == {"2"}


def test_default_exits_are_the_papers(encoder_folder):
    assert checkpoint.begin(str(encoder_folder), exits="default").shape.exits[-1] == 4
    with pytest.raises(CascadaError, match="The last exit is at layer 3, but layers is 4"):
        checkpoint.begin(str(encoder_folder), exits=(2, 3), layers=4)


def test_an_exit_alone_ranks_as_it_did_in_the_cascade(cascade_folder, tmp_path, words):
    cascade = Ranker.load(cascade_folder)
    texts = [" ".join(words[start : start + 3 + start % 4]) for start in range(0, 40, 2)]
    ranking = cascade.rank("ba da", texts, drop=0)
    for place, exit in enumerate(cascade.exits):
        cut(cascade_folder, [exit], tmp_path / str(exit))
        alone = Ranker.load(tmp_path / str(exit))
        assert alone.exits == (exit,)
        scores = {item.index: item.raw_score for item in alone.rank("ba da", texts)}
        assert all(scores[item.index] == pytest.approx(item.scores[place], abs=1e-5) for item in ranking)


def test_an_exit_that_does_not_exist_cannot_be_kept(cascade_folder, tmp_path):
    with pytest.raises(CascadaError, match="has no exit at layer 9; it has"):
        cut(cascade_folder, [9], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(CascadaError, match="already holds a ranker"):
        cut(cascade_folder, checkpoint.load(cascade_folder).shape.exits[:1], cascade_folder)
