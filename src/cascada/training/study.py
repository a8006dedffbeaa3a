"""A study: variants of one recipe, each over several seeds, measured on test sets and compared.

The papers' tables are studies. Every run lies in its own folder under the output and is made only once: a study that
was stopped, or to which a variant or a seed was added, goes on with what is missing.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from rich.console import Console

from cascada.data import Group, Run, load, qrels, read_run, write_run
from cascada.errors import CascadaError
from cascada.metrics import Evaluation, evaluate
from cascada.ranking.folder import SHAPE_FILE
from cascada.training.settings import DataSettings, Settings, Text

MEASURES = ("MAP", "MRR", "P@1")


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

    for seed in study.seeds:
        for variant, changes in study.variants.items():
            content = copy.deepcopy(study.base)
            content["output"] = str(Path(study.output) / f"{slug(variant)}-seed{seed}")
            for key, value in {**changes, **_seed_keys(content, seed)}.items():
                put(content, key, value)
            yield Member(variant, seed, validated(content, f"{study.output}, variant {variant}"))


def run_study(study: StudyRecipe, console: Console | None = None) -> dict[str, Any]:
    """Train what is not trained yet, measure it, and write the report into the output; what it found."""
    from cascada.training.report import write_report

    check_names(study)
    runs = list(members(study))  # a mistake in any of them is told before the first one trains
    tests = {
        name: load(data.source, root=data.root, split=data.split, mode=data.mode, first=data.questions)
        for name, data in study.test.items()
    }
    found: dict[tuple[str, str], list[Evaluation]] = {}
    histories: dict[str, list[Path]] = {}
    for member in runs:
        for test, model in trained(member, console).items():
            for row, folder in rows_of(study, member.variant, model):
                for name in tests if test is None else (test,):
                    found.setdefault((row, name), []).append(measured(folder, name, tests))
            histories.setdefault(member.variant, []).append(model / "history.json")
    return write_report(study, found, histories)


def check_names(study: StudyRecipe) -> None:
    """Variants that are named elsewhere have to be there."""
    readings = {f"readings.{name}": (reading.of,) for name, reading in study.readings.items()}
    losses = {f"losses.{level}": names for level, names in study.losses.items()}
    against = {"against": (study.against,) if study.against else ()}
    for key, names in {**against, **readings, **losses}.items():
        for name in names:
            if name not in study.variants:
                raise CascadaError(f"{key} is {name}, which is none of the variants.")


def rows_of(study: StudyRecipe, variant: str, model: Path) -> Iterator[tuple[str, Path]]:
    """The rows that a model gives: its variant's, and those of its other readings."""
    from cascada.models.compare_aggregate.folder import at_level

    yield variant, model
    for name, reading in study.readings.items():
        if reading.of == variant:
            folder = model / f"at-{slug(reading.level)}"
            if not (folder / SHAPE_FILE).exists():
                at_level(model, reading.level, folder)
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


def measured(model: Path, name: str, tests: Mapping[str, list[Group]]) -> Evaluation:
    """Rank a test set with a model, or read the ranking made before; measure it."""
    if name not in tests:
        raise CascadaError(f"test has no {name}, which is a target of the base.")
    path = model / f"test-{slug(name)}.trec"
    if not path.exists():
        write_run(_ranked(model, tests[name]), path)
    return evaluate(read_run(path), qrels(tests[name]), MEASURES)


def _ranked(model: Path, groups: list[Group]) -> Run:
    from cascada.ranking import Ranker
    from cascada.ranking.runs import run_of

    return run_of(Ranker.load(str(model)), groups)


def _seed_keys(content: dict[str, Any], seed: int) -> dict[str, int]:
    """Where a recipe keeps the seed that a study varies; a transfer is made once, with its own."""
    if content.get("kind", "train") == "train":
        return {"training.seed": seed}
    targets = content.get("targets") or {}
    keys = {f"targets.{name}.adapt.seed": seed for name in targets}
    return keys | {f"targets.{name}.finetune.seed": seed for name, own in targets.items() if own.get("finetune")}


def slug(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
