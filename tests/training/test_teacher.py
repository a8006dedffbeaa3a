"""A ranker may learn from another ranker, in addition to the labels or instead of them."""

import dataclasses

import numpy as np
import pytest
import torch
from trained import history

from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group
from cascada.data import load as load_groups
from cascada.ranking import Ranker
from cascada.training.settings import TeacherSettings
from cascada.training.single_run import train_model
from cascada.training.teacher import add_teacher_loss, teacher_scores


def test_a_ranker_may_learn_from_a_teacher_alone(recipe, cascade_folder):
    teacher = {"model": str(cascade_folder), "share": 1.0, "temperature": 1.0}
    folder = train_model(recipe("student", teacher=teacher, epochs=1))
    first, *_ = history(folder)["train"]
    assert first["loss"] < 0.1, "an untrained teacher prefers no candidate; from the labels it would be about 0.5"
    assert (folder / "teacher.npz").exists()


def test_the_teachers_predictions_have_their_share_of_the_loss():
    logits = torch.tensor([[0.0, 1.0], [0.5, 0.0]])
    loss, same, other = torch.tensor(2.0), torch.tensor([1.0, -0.5]), torch.tensor([0.0, 0.0])
    settings = TeacherSettings(model="m", share=0.25, temperature=1.0)
    batch = {"labels": torch.tensor([1, 0]), "owner": torch.tensor([0, 0])}
    assert add_teacher_loss(loss, logits, None, settings, **batch) == 2
    assert add_teacher_loss(loss, logits, same, settings, **batch).item() == pytest.approx(1.5)
    half, own = torch.full((2, 2), 0.5), logits.softmax(-1)
    divergence = (half * (half / own).log()).sum() / 2
    mixed = add_teacher_loss(loss, logits, other, settings, **batch).item()
    assert mixed == pytest.approx(1.5 + 0.25 * divergence.item())


def test_at_list_level_the_target_is_a_distribution_over_the_questions_candidates():
    scores = torch.tensor([0.3, -0.2, 1.0, 0.4, 0.1])
    logits = torch.stack((torch.zeros(5), scores), -1)
    said, labels = torch.tensor([1.0, -1.0, 0.5, 0.5, -1.0]), torch.tensor([0, 1, 0, 0, 1])
    settings = TeacherSettings(model="m", level="list", share=1.0, temperature=0.5, bonus=0.75)
    owner = torch.tensor([0, 0, 1, 1, 1])
    found = add_teacher_loss(torch.tensor(9.0), logits, said, settings, labels=labels, owner=owner).item()
    divergences = []
    for rows in ([0, 1], [2, 3, 4]):
        target = ((said[rows] + 0.75 * labels[rows]) / 0.5).softmax(0)
        divergences.append((target * (target.log() - scores[rows].log_softmax(0))).sum().item())
    assert found == pytest.approx(sum(divergences) / 2, abs=1e-6)


def test_several_teachers_are_standardised_and_weighted(data, cascade_folder, tmp_path):
    groups = load_groups(str(data / "dev.jsonl"))
    settings = TeacherSettings(model={str(cascade_folder): 1.0, "bm25": 3.0}, level="list")
    said = teacher_scores(settings, groups, tmp_path)
    own = [
        np.concatenate([one[-1] for one in Ranker.load(name).exit_scores(pairs_of(groups))]) for name in settings.model
    ]
    start = 0
    for group in groups:
        rows = slice(start, start + len(group.candidates))
        first, second = ((one[rows] - one[rows].mean()) / max(one[rows].std(), 1e-6) for one in own)
        assert said[rows] == pytest.approx((first + 3 * second) / 4, abs=1e-3)
        start = rows.stop
    assert {path.name for path in tmp_path.iterdir()} == {"teacher.npz", "teacher-2.npz"}


def test_the_training_data_may_bring_a_teachers_scores(tmp_path):
    groups = [
        Group("who?", (Candidate("a", 1, score=3.0), Candidate("b", 0, score=1.0), Candidate("c", 0))),
        Group("when?", (Candidate("d", 0, score=-2.0), Candidate("e", 1, score=-6.0))),
    ]
    settings = TeacherSettings(model="data", level="list")
    used = np.array([True, True, False, True, True])
    assert teacher_scores(settings, groups, tmp_path, used=used).tolist() == [1, -1, 0, 1, -1]
    with pytest.raises(CascadaError, match="1 of 5 candidates have no score"):
        teacher_scores(settings, groups, tmp_path)


def pairs_of(groups):
    return [(group.question, group.texts) for group in groups]


def test_scoring_that_was_stopped_continues(data, cascade_folder, tmp_path):
    groups = load_groups(str(data / "dev.jsonl"))
    settings = TeacherSettings(model=str(cascade_folder))
    whole = teacher_scores(settings, groups, tmp_path)
    with np.load(tmp_path / "teacher.npz") as file:
        about, scores = file["about"], file["scores"].copy()
    first = len(groups[0].candidates)
    scores[first:] = np.nan
    np.savez(tmp_path / "teacher.npz", scores=scores, about=about)
    scored = []
    assert teacher_scores(settings, groups, tmp_path, scored.append) == pytest.approx(whole, abs=1e-5)
    assert sum(scored) == len(whole) - first


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": {"a": 1.0, "b": 1.0}}, "several teachers"),
        ({"model": "a", "bonus": 1.0}, "bonus"),
        ({"model": {}, "level": "list"}, "names no teacher"),
    ],
)
def test_settings_that_contradict_each_other_are_rejected(settings, said):
    with pytest.raises(ValueError, match=said):
        TeacherSettings(**settings)


def test_a_list_level_teacher_needs_whole_questions(recipe):
    with pytest.raises(CascadaError, match=r"batch\.by must be 'questions'"):
        recipe("student", teacher={"model": "bm25", "level": "list"})


def test_cached_scores_are_not_computed_again(data, cascade_folder, ranker_folder, tmp_path):
    groups = load_groups(str(data / "dev.jsonl"))
    settings = TeacherSettings(model=str(cascade_folder))
    before = teacher_scores(settings, groups, tmp_path)
    scored = []
    np.testing.assert_array_equal(teacher_scores(settings, groups, tmp_path, scored.append), before)
    assert scored == []
    other = teacher_scores(TeacherSettings(model=str(ranker_folder)), groups, tmp_path, scored.append)
    assert sum(scored) == len(before)
    assert not np.array_equal(other, before)
    first = Ranker.load(ranker_folder).rank(groups[0].question, groups[0].texts)
    assert {item.index: np.float32(item.raw_score) for item in first} == dict(enumerate(other[: len(first)]))
    scored.clear()
    changed = [dataclasses.replace(groups[0], question="another?"), *groups[1:]]
    teacher_scores(TeacherSettings(model=str(ranker_folder)), changed, tmp_path, scored.append)
    assert sum(scored) == len(before), "other texts, as many"


def test_scores_of_another_precision_are_computed_again(data, cascade_folder, tmp_path):
    groups = load_groups(str(data / "dev.jsonl"))
    settings = TeacherSettings(model=str(cascade_folder))
    before = teacher_scores(settings, groups, tmp_path)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = teacher_scores(settings, groups, tmp_path)
    assert not np.array_equal(rounded, before)
    assert rounded == pytest.approx(before, abs=0.05)


def test_a_teacher_scores_only_pairs_that_are_trained_on(recipe, data, cascade_folder, tmp_path):
    folder = train_model(recipe("student", teacher={"model": str(cascade_folder)}, epochs=1, negatives=1))
    groups = load_groups(str(data / "train.jsonl"))
    labels = np.array([label for group in groups for label in group.labels])
    cached = np.load(folder / "teacher.npz")["scores"]
    every_score = teacher_scores(TeacherSettings(model=str(cascade_folder)), groups, tmp_path)
    used = cached != 0
    assert used[labels == 1].all()
    assert used.sum() == 2 * len(groups)
    np.testing.assert_allclose(cached[used], every_score[used], atol=1e-5)


def test_a_teacher_without_probabilities_is_rejected(data, tmp_path):
    with pytest.raises(CascadaError, match=r"training\.teacher: its scores are not probabilities"):
        teacher_scores(TeacherSettings(model="bm25"), load_groups(str(data / "dev.jsonl")), tmp_path)
