"""Exit scores in a file: they are loaded unchanged, and only for the same model and data; and digests of models."""

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
    save_scores(path, SCORES, model_digest(str(model)), GROUPS)
    return path


def relabelled(group):
    return replace(
        group, candidates=tuple(replace(candidate, label=1 - candidate.label) for candidate in group.candidates)
    )


def test_saved_scores_are_loaded_unchanged(file, model):
    found = load_scores(file, model_digest(str(model)), GROUPS)
    assert (found.exits, found.layers, found.full) == (SCORES.exits, SCORES.layers, SCORES.full)
    for loaded, saved in zip(found.questions, SCORES.questions, strict=True):
        assert loaded.scores.tolist() == saved.scores.tolist()
        assert loaded.ids == saved.ids
    assert sorted(path.name for path in file.parent.iterdir()) == ["model", "scores.npz"]


def test_a_copy_of_the_model_is_the_same_model(file, model):
    model.rename(model.with_name("moved"))
    assert load_scores(file, model_digest(str(model.with_name("moved"))), GROUPS).exits == SCORES.exits


def test_the_card_and_the_plan_are_not_part_of_the_digest(file, model):
    (model / "plan.json").write_text("{}")
    (model / "README.md").write_text("better words")
    assert load_scores(file, model_digest(str(model)), GROUPS).exits == SCORES.exits


@pytest.mark.parametrize("weights", ["model.safetensors", "weights.bin"])
def test_scores_of_another_model_are_rejected(file, model, weights):
    (model / weights).write_bytes(b"heavier")
    with pytest.raises(CascadaError, match="scores of another model"):
        load_scores(file, model_digest(str(model)), GROUPS)


def test_scores_from_another_store_are_rejected(tmp_path, model):
    path = tmp_path / "of-a-store.npz"
    digest = model_digest(str(model), tmp_path / "a.store")
    save_scores(path, SCORES, digest, GROUPS)
    assert load_scores(path, digest, GROUPS).exits == SCORES.exits
    for store in (None, tmp_path / "b.store"):
        with pytest.raises(CascadaError, match="scores of another model"):
            load_scores(path, model_digest(str(model), store), GROUPS)


def test_a_digest_tells_a_folder_with_a_plus_from_two_rankers_and_includes_the_plan_on_request(tmp_path, model):
    both = model.rename(model.with_name("one+two"))
    digest, planned = model_digest(f"cosine:{both}"), model_digest(str(both), plan=True)
    (both / "plan.json").write_text("{}")
    assert model_digest(str(both), plan=True) != planned
    (both / "model.safetensors").write_bytes(b"heavier")
    assert model_digest(f"cosine:{both}") != digest


def test_the_digest_of_the_bundled_model_is_that_of_its_folder():
    assert model_digest(BUNDLED) == model_digest(str(BUNDLED_FOLDER))


@pytest.mark.parametrize("groups", [GROUPS[1:], [replace(GROUPS[0], question="what?"), *GROUPS[1:]]])
def test_scores_of_other_data_are_rejected(file, model, groups):
    with pytest.raises(CascadaError, match="scores of another data"):
        load_scores(file, model_digest(str(model)), groups)


def test_labels_are_taken_from_the_data(file, model):
    """Correcting a label needs no new pass over the data."""
    found = load_scores(file, model_digest(str(model)), [relabelled(group) for group in GROUPS])
    flipped = [(1 - question.labels).tolist() for question in SCORES.questions]
    assert [question.labels.tolist() for question in found.questions] == flipped


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04 cut short"])
def test_a_file_of_another_kind_raises_one_sentence(tmp_path, model, content):
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(CascadaError, match=r"is not a file of exit scores") as caught:
        load_scores(path, model_digest(str(model)), GROUPS)
    assert "\n" not in str(caught.value)
