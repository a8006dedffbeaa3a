"""Exit scores on disk: the same scores come back, and only for the model and the data that made them."""

from dataclasses import replace

import pytest
from score_tables import groups_of, learning

from cascada.core.errors import CascadaError
from cascada.ranking.tuning.scores_file import load_scores, save_scores
from cascada.systems.load import BUNDLED, BUNDLED_FOLDER, model_digest

SCORES = learning(5, 4)
GROUPS = groups_of(SCORES)


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "cascada.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def file(tmp_path, model):
    path = tmp_path / "scores.npz"
    save_scores(path, SCORES, str(model), GROUPS)
    return path


def relabelled(group):
    return replace(group, candidates=tuple(replace(one, label=1 - one.label) for one in group.candidates))


def test_the_same_scores_come_back(file, model):
    found = load_scores(file, str(model), GROUPS)
    assert (found.exits, found.layers, found.full) == (SCORES.exits, SCORES.layers, SCORES.full)
    for one, other in zip(found.questions, SCORES.questions, strict=True):
        assert one.scores.tolist() == other.scores.tolist()
        assert one.ids == other.ids
    assert sorted(path.name for path in file.parent.iterdir()) == ["model", "scores.npz"]


def test_a_copy_of_the_model_is_the_same_model(file, model):
    model.rename(model.with_name("moved"))
    assert load_scores(file, str(model.with_name("moved")), GROUPS).exits == SCORES.exits


def test_its_card_and_its_plan_are_not_the_model(file, model):
    (model / "plan.json").write_text("{}")
    (model / "README.md").write_text("better words")
    assert load_scores(file, str(model), GROUPS).exits == SCORES.exits


@pytest.mark.parametrize("weights", ["model.safetensors", "weights.bin"])
def test_another_model_is_refused(file, model, weights):
    (model / weights).write_bytes(b"heavier")
    with pytest.raises(CascadaError, match="scores of another model"):
        load_scores(file, str(model), GROUPS)


def test_scores_from_another_store_are_refused(tmp_path, model):
    path = tmp_path / "of-a-store.npz"
    save_scores(path, SCORES, str(model), GROUPS, tmp_path / "a.store")
    assert load_scores(path, str(model), GROUPS, tmp_path / "a.store").exits == SCORES.exits
    for other in (None, tmp_path / "b.store"):
        with pytest.raises(CascadaError, match="scores of another model"):
            load_scores(path, str(model), GROUPS, other)


def test_a_mark_knows_a_folders_name_from_two_rankers_and_the_plan_if_asked(tmp_path, model):
    both = model.rename(model.with_name("one+two"))
    mark, planned = model_digest(f"cosine:{both}"), model_digest(str(both), plan=True)
    (both / "plan.json").write_text("{}")
    assert model_digest(str(both), plan=True) != planned
    (both / "model.safetensors").write_bytes(b"heavier")
    assert model_digest(f"cosine:{both}") != mark


def test_the_bundled_model_is_known_by_its_files():
    assert model_digest(BUNDLED) == model_digest(str(BUNDLED_FOLDER))


@pytest.mark.parametrize("groups", [GROUPS[1:], [replace(GROUPS[0], question="what?"), *GROUPS[1:]]])
def test_other_data_is_refused(file, model, groups):
    with pytest.raises(CascadaError, match="scores of another data"):
        load_scores(file, str(model), groups)


def test_labels_are_the_datas_own(file, model):
    """A label that was put right needs no new pass."""
    found = load_scores(file, str(model), [relabelled(group) for group in GROUPS])
    assert [one.labels.tolist() for one in found.questions] == [(1 - one.labels).tolist() for one in SCORES.questions]


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04 cut short"])
def test_another_file_is_one_sentence(tmp_path, model, content):
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(CascadaError, match=r"holds no exit scores") as caught:
        load_scores(path, str(model), GROUPS)
    assert "\n" not in str(caught.value)
