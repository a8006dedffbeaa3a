"""A study: variants of one recipe, each over several seeds, measured on test sets and compared.

The papers' tables are studies. Every run lies in its own folder under the output and is made only once: a study that
was stopped, or to which a variant or a seed was added, goes on with what is missing.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from rich.console import Console

from cascada.core.errors import CascadaError
from cascada.core.folder import COMPARE_AGGREGATE, SHAPE_FILE, read_shape
from cascada.data import Group, Run, qrels, read_run, write_run
from cascada.metrics import Evaluation, evaluate
from cascada.systems.registry import part
from cascada.training.examples import loaded_groups
from cascada.training.settings import DataSettings, Recipe, Settings, Text

MEASURES = ("MAP", "MRR", "P@1")


AT = ", exit "
"""Between a variant's name and an exit's, in the name of a row."""


class Reading(Settings):
    """Another reading of a variant's models, which need not be trained again."""

    of: Text
    level: Text


class StudyRecipe(Settings):
    kind: Literal["study"]
    output: Text
    base: dict[str, Any]
    """A recipe of kind `train` or `tanda`; its output is set by the study."""
    variants: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]
    """Name → changes of the base, by dotted keys; {} for the base itself."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] = (1,)
    test: Annotated[dict[str, DataSettings], Field(min_length=1)]
    """What to measure on; for a `tanda` base the names are those of its targets."""
    against: str | None = None
    """The variant that the others are compared with."""
    readings: dict[str, Reading] = Field(default_factory=dict)
    """Further rows: name → a variant that ranks by another of its levels."""
    exits: Literal["last", "each"] = "last"
    """What of a cascade to measure: its last exit, or each of them, in a row of its own."""
    losses: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """For a picture of the losses: name of a level → the variants whose loss at that level is drawn."""


@dataclass(frozen=True)
class Member:
    """One run of a study."""

    variant: str
    seed: int
    recipe: Any
    """A Recipe or a TandaRecipe."""


def members(study: StudyRecipe) -> Iterator[Member]:
    """All runs, seed by seed, so that a study stopped early has whole rows."""
    from cascada.training.recipes import put, validated
    from cascada.training.tanda import TandaRecipe

    for seed in study.seeds:
        for variant, changes in study.variants.items():
            content = copy.deepcopy(study.base)
            content["output"] = str(Path(study.output) / f"{slug(variant)}-seed{seed}")
            for key, value in changes.items():
                put(content, key, copy.deepcopy(value))
            where = f"{study.output}, variant {variant}"
            if not isinstance(validated(content, where), (Recipe, TandaRecipe)):
                raise CascadaError(f"{where}: kind is {content['kind']}; a study has trainings of rankers.")
            for key, value in _seed_keys(content, seed).items():
                put(content, key, value)
            yield Member(variant, seed, validated(content, where))


def run_study(study: StudyRecipe, console: Console | None = None) -> dict[str, Any]:
    """Train what is not trained yet, measure it, and write the report into the output; what it found."""
    from cascada.training.study_report import write_report

    check_names(study)
    runs = list(members(study))  # a mistake in any of them is told before the first one trains
    check_tests(study, runs)
    tests = {name: loaded_groups(data) for name, data in study.test.items()}
    found: dict[tuple[str, str], list[Evaluation]] = {}
    histories: dict[tuple[str, str | None], list[Path]] = {}
    seen: set[tuple[str, Path]] = set()
    for member in runs:
        for test, model in trained(member, console).items():
            if (member.variant, model) in seen:
                continue  # a transfer alone is one run, however many seeds there are
            seen.add((member.variant, model))
            for row, folder in rows_of(study, member.variant, model):
                for name in tests if test is None else (test,):
                    for exit, evaluation in measured(study, folder, name, tests):
                        found.setdefault((f"{row}{exit}", name), []).append(evaluation)
            histories.setdefault((member.variant, test), []).append(model / "history.json")
    return write_report(study, found, histories)


def check_names(study: StudyRecipe) -> None:
    """Variants that are named elsewhere have to be there, and each has a folder of its own."""
    folders: dict[str, str] = {}
    for name in study.variants:
        if folders.setdefault(slug(name), name) != name:
            raise CascadaError(
                f"The variants {folders[slug(name)]} and {name} would share a folder: name one otherwise."
            )
    readings = {f"readings.{name}": (reading.of,) for name, reading in study.readings.items()}
    losses = {f"losses.{level}": names for level, names in study.losses.items()}
    against = {"against": (study.against,) if study.against else ()}
    for key, names in {**against, **readings, **losses}.items():
        for name in names:
            if name not in study.variants:
                raise CascadaError(f"{key} is {name}, which is none of the variants.")


def check_tests(study: StudyRecipe, runs: Sequence[Member]) -> None:
    """What a model was adapted to is what it is measured on, and what is read at a level has levels to read."""
    read = {reading.of for reading in study.readings.values()}
    for member in runs:
        if member.variant in read and member.recipe.model.kind != COMPARE_AGGREGATE:
            raise CascadaError(f"readings: {member.variant} is no compare-aggregate network, which alone has levels.")
    for member in runs:
        for name in member.recipe.targets if getattr(member.recipe, "method", "transfer") != "transfer" else ():
            if name not in study.test:
                raise CascadaError(f"test has no {name}, which is a target of the base.")


def rows_of(study: StudyRecipe, variant: str, model: Path) -> Iterator[tuple[str, Path]]:
    """The rows that a model gives: its variant's, and those of its other readings."""
    yield variant, model
    for name, reading in study.readings.items():
        if reading.of == variant:
            folder = model / f"at-{slug(reading.level)}"
            if not (folder / SHAPE_FILE).exists():
                part(COMPARE_AGGREGATE, "learner").at_level(model, reading.level, folder)
            yield name, folder


def trained(member: Member, console: Console | None) -> dict[str | None, Path]:
    """Train one member; its models by the target they are for, None if for any."""
    from cascada.training.run import train
    from cascada.training.tanda import TandaRecipe, train_tanda

    if not isinstance(member.recipe, TandaRecipe):
        return {None: train(member.recipe, console)}
    folders = train_tanda(member.recipe, console)
    if member.recipe.method == "transfer":
        return {None: folders[0]}
    return dict(zip(member.recipe.targets, folders[-len(member.recipe.targets) :], strict=True))


def measured(
    study: StudyRecipe, model: Path, name: str, tests: Mapping[str, list[Group]]
) -> Iterator[tuple[str, Evaluation]]:
    """Rank a test set with a model, or read the rankings made before; what it measures, and at which exit."""
    exits = [f"{AT}{exit}" for exit in read_shape(model)["exits"]] if study.exits == "each" else [""]
    paths = [model / f"test-{slug(name)}{exit.replace(AT, '-exit')}.trec" for exit in exits]
    runs = [read_run(path) for path in paths if path.exists()]
    if len(runs) < len(paths) or not all(_is_of(run, tests[name]) for run in runs):
        runs = _ranked(study, model, tests[name])
        for run, path in zip(runs, paths, strict=True):
            write_run(run, path)
    for exit, run in zip(exits, runs, strict=True):
        yield exit, evaluate(run, qrels(tests[name]), MEASURES)


def _is_of(run: Run, groups: list[Group]) -> bool:
    """Whether it ranks these questions and candidates: `test` may have been changed since."""
    here = {str(group.id): {str(one.id) for one in group.candidates} for group in groups if group.candidates}
    return {question: set(scores) for question, scores in run.items()} == here


def _ranked(study: StudyRecipe, model: Path, groups: list[Group]) -> list[Run]:
    """Everyone is run to the end, also where a plan was saved beside the model since."""
    from cascada.ranking import Ranker
    from cascada.ranking.runs import exit_runs, run_of

    ranker = Ranker.load(str(model))
    return exit_runs(ranker, groups) if study.exits == "each" else [run_of(ranker, groups, drop=0)]


def _seed_keys(content: dict[str, Any], seed: int) -> dict[str, Any]:
    """Where a recipe keeps the seed that a study varies; a transfer is made once, with its own.

    Fine-tuning that has no settings of its own gets the transfer's here, since all but their seed are meant.
    """
    if content.get("kind", "train") == "train":
        return {"training.seed": seed}
    keys: dict[str, Any] = {}
    transfers = (content.get("transfer") or {}).get("training") or {}
    for name, target in (content.get("targets") or {}).items():
        keys[f"targets.{name}.adapt.seed"] = seed
        keys[f"targets.{name}.finetune"] = {**((target or {}).get("finetune") or transfers), "seed": seed}
    return keys


def slug(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
