"""A ranker may learn from another ranker, in addition to the labels or instead of them."""

import dataclasses

import numpy as np
import pytest
import torch
from trained import history

from cascada.core.errors import CascadaError
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
    assert add_teacher_loss(loss, logits, None, settings) == 2
    assert add_teacher_loss(loss, logits, same, settings).item() == pytest.approx(1.5)
    half, own = torch.full((2, 2), 0.5), logits.softmax(-1)
    divergence = (half * (half / own).log()).sum() / 2
    assert add_teacher_loss(loss, logits, other, settings).item() == pytest.approx(1.5 + 0.25 * divergence.item())


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
