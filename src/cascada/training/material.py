"""The groups that a recipe names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from cascada.data import Group, flip_labels, load, read
from cascada.errors import CascadaError
from cascada.training.base_settings import DataSettings


def training_groups(settings: DataSettings) -> list[Group]:
    """What is learned from: questions that have candidates, with noise and other data as the settings say."""
    groups: Iterable[Group] = read(settings.source, root=settings.root, split=settings.split, mode=settings.mode)
    groups = islice(groups, settings.questions)
    if settings.grades is not None:
        groups = _of_grades(groups, settings.grades)
    found = [group for group in groups if group.candidates]
    if not found:
        raise CascadaError(f"train: {settings.source} has no questions in mode {settings.mode}.")
    if settings.noise:
        found = list(flip_labels(found, settings.noise, seed=settings.noise_seed))
    return found + [group for other in settings.also for group in training_groups(other)]


def measured_groups(settings: DataSettings, which: str) -> list[Group]:
    """What is measured, as it is, with ids; `which` names it in a mistake."""
    if settings.grades is not None or settings.noise or settings.also:
        raise CascadaError(f"{which}: grades, noise and also are for training data; a set is measured as it is.")
    groups = loaded_groups(settings)
    if not any(any(group.labels) for group in groups):
        raise CascadaError(f"{which}: {settings.source} has no correct candidate: there is no MAP to watch.")
    return [group for group in groups if group.candidates]


def loaded_groups(settings: DataSettings) -> list[Group]:
    """What the settings name, with ids."""
    return load(settings.source, root=settings.root, split=settings.split, mode=settings.mode, first=settings.questions)


def _of_grades(groups: Iterable[Group], grades: tuple[int, ...]) -> Iterator[Group]:
    """Correct candidates, and the wrong ones of some grades."""
    for group in groups:
        kept = tuple(one for one in group.candidates if one.label or one.grade in grades)
        yield replace(group, candidates=kept)
