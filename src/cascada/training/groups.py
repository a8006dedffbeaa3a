"""The question groups that a recipe names, read for training or for measuring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cascada.core.errors import CascadaError
from cascada.data import Group, flip_labels, load, read
from cascada.data.read import sampled
from cascada.training.settings import DataSettings


def training_groups(settings: DataSettings) -> list[Group]:
    """Read training data: questions with candidates, with noise and further data as the settings say."""
    groups: Iterable[Group] = read(settings.source, root=settings.root, split=settings.split, mode=settings.mode)
    groups = sampled(groups, settings.questions, settings.sample_seed)
    if settings.grades is not None:
        groups = _with_grades(groups, settings.grades)
    if settings.wrong is not None:
        groups = (_with_first_wrong(group, settings.wrong) for group in groups)
    usable = [group for group in groups if group.candidates]
    if not usable:
        raise CascadaError(f"train: {settings.source} has no questions in mode {settings.mode}.")
    if settings.noise:
        usable = list(flip_labels(usable, settings.noise, seed=settings.noise_seed))
    return usable + [group for other in settings.also for group in training_groups(other)]


def measured_groups(settings: DataSettings, which: str) -> list[Group]:
    """Read a data set to measure on, with ids; `which` names it in error messages."""
    if settings.grades is not None or settings.wrong is not None or settings.noise or settings.also:
        raise CascadaError(f"{which}: grades, wrong, noise and also are for training data only.")
    groups = loaded_groups(settings)
    if not any(any(group.labels) for group in groups):
        raise CascadaError(f"{which}: {settings.source} has no correct candidate, so MAP cannot be measured.")
    return [group for group in groups if group.candidates]


def loaded_groups(settings: DataSettings) -> list[Group]:
    """Read the groups that the settings name, with ids."""
    return load(
        settings.source,
        root=settings.root,
        split=settings.split,
        mode=settings.mode,
        questions=settings.questions,
        seed=settings.sample_seed,
    )


def _with_grades(groups: Iterable[Group], grades: tuple[int, ...]) -> Iterator[Group]:
    """Keep the correct candidates, and the incorrect ones with one of the grades."""
    for group in groups:
        kept = tuple(candidate for candidate in group.candidates if candidate.label or candidate.grade in grades)
        yield replace(group, candidates=kept)


def _with_first_wrong(group: Group, count: int) -> Group:
    """Keep the correct candidates, and the first `count` incorrect ones."""
    incorrect = [place for place, candidate in enumerate(group.candidates) if not candidate.label]
    left_out = set(incorrect[count:])
    kept = tuple(candidate for place, candidate in enumerate(group.candidates) if place not in left_out)
    return replace(group, candidates=kept)
