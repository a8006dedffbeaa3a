"""A study: variants of one recipe, each trained with several seeds, measured on test sets and compared.

The papers' tables are studies. Every run has its own folder under the output and is trained only once: a study that was
stopped, or that got another variant or seed, trains what is missing.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from rich.console import Console

from cascada.core.errors import CascadaError
from cascada.core.folder import SHAPE_FILE, kind_of, read_shape
from cascada.data import Group, Run, qrels, read_run, write_run
from cascada.metrics import Evaluation, evaluate
from cascada.systems.registry import part
from cascada.training.groups import loaded_groups
from cascada.training.settings import DataSettings, Recipe, Settings, Share, Text
from cascada.training.study_drops import cascade_scores, dropped, sequence_scores

MEASURES = ("MAP", "MRR", "P@1")
EXIT_SUFFIX = ", exit "
"""Stands between the name of a variant and its exit in the name of a row."""


class LevelReading(Settings):
    """A variant's models, ranking by another of their levels; they are not trained again."""

    of: Text
    level: Text


class StudyRecipe(Settings):
    """Variants of a base recipe, seeds, and test sets."""

    kind: Literal["study"]
    output: Text
    base: dict[str, Any]
    """A recipe of kind `train` or `tanda`; the study sets its output."""
    variants: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]
    """Name → changes to the base, by dotted keys; {} for the base itself."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] = (1,)
    test: Annotated[dict[str, DataSettings], Field(min_length=1)]
    """Data sets to measure on; with a `tanda` base, their names are those of its targets."""
    against: str | None = None
    """The variant that the others are compared with."""
    readings: dict[str, LevelReading] = Field(default_factory=dict)
    """Further rows: name → a variant that ranks by another of its levels."""
    exits: Literal["last", "each"] = "last"
    """Measure the last exit of a cascade, or each exit in a row of its own."""
    drops: dict[str, Share | tuple[Share, ...]] = Field(default_factory=dict)
    """Further rows for rankers with several exits: name → the drop ratio of all exits after a layer, or a ratio for
    each exit but the last; a list of another length has no row."""
    sequences: dict[str, Annotated[tuple[Text, ...], Field(min_length=2)]] = Field(default_factory=dict)
    """Sequential rankers: name → variants, the smallest first, whose models of the same seed run one after another."""
    transfer: Literal["once", "each seed"] = "once"
    """With a `tanda` base: train the transfer step once, or anew for every seed."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """In which precision the test sets are measured."""
    losses: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """For `losses.png`: a level → the variants whose training loss at that level is drawn."""


@dataclass(frozen=True)
class Measurement:
    """The result of one row of the table for one seed and test set."""

    row: str
    test: str
    seed: int
    evaluation: Evaluation
    cost: float | None = None
    """Layers run, relative to running every candidate to the last exit; None without drops."""


@dataclass(frozen=True)
class Member:
    """One variant with one seed."""

    variant: str
    seed: int
    recipe: Any
    """A Recipe or a TandaRecipe."""


def members(study: StudyRecipe) -> Iterator[Member]:
    """All members, seed by seed, so that a study that is stopped early has all variants."""
    from cascada.training.recipes import parse_recipe, set_key
    from cascada.training.tanda import TandaRecipe

    for seed in study.seeds:
        for variant, changes in study.variants.items():
            content = copy.deepcopy(study.base)
            content["output"] = str(Path(study.output) / f"{slug(variant)}-seed{seed}")
            for key, value in changes.items():
                set_key(content, key, copy.deepcopy(value))
            where = f"{study.output}, variant {variant}"
            if not isinstance(parse_recipe(content, where), (Recipe, TandaRecipe)):
                raise CascadaError(
                    f"{where}: kind is {content['kind']}; a study trains rankers, by recipes of kind train or tanda."
                )
            for key, value in _seed_keys(content, seed, study.transfer).items():
                set_key(content, key, value)
            yield Member(variant, seed, parse_recipe(content, where))


def run_study(study: StudyRecipe, console: Console | None = None) -> dict[str, Any]:
    """Train what is missing, measure everything, and write the report into the output; returns `results.json`."""
    from cascada.training.precision import products_in
    from cascada.training.study_report import write_measured, write_report

    products_in(study.precision)  # raises if the processor cannot
    check_names(study)
    runs = list(members(study))  # so that a mistake in any of them is reported before the first one trains
    check_tests(study, runs)
    tests = {name: loaded_groups(data) for name, data in study.test.items()}
    measurements: list[Measurement] = []
    trained: dict[tuple[str, str, int], Path] = {}
    histories: dict[tuple[str, str | None], list[Path]] = {}
    measured: set[tuple[str, Path]] = set()
    for member in runs:
        for test, model in train_member(member, console).items():
            trained |= {(member.variant, name, member.seed): model for name in (tests if test is None else (test,))}
            if (member.variant, model) in measured:
                continue  # a transfer without adaptation is one run, whatever the number of seeds
            measured.add((member.variant, model))
            for row, folder in rows_of(study, member.variant, model):
                for name in tests if test is None else (test,):
                    for suffix, evaluation, cost in measure(study, folder, name, tests):
                        measurements.append(Measurement(f"{row}{suffix}", name, member.seed, evaluation, cost))
            histories.setdefault((member.variant, test), []).append(model / "history.json")
        write_measured(study, measurements)
    measurements += sequenced(study, trained, tests)
    return write_report(study, measurements, histories)


def check_names(study: StudyRecipe) -> None:
    """Check that variants have different folders, and that variants named elsewhere in the recipe exist."""
    folders: dict[str, str] = {}
    for name in study.variants:
        if folders.setdefault(slug(name), name) != name:
            raise CascadaError(
                f"The variants {folders[slug(name)]} and {name} would share a folder: rename one of them."
            )
    readings = {f"readings.{name}": (reading.of,) for name, reading in study.readings.items()}
    losses = {f"losses.{level}": names for level, names in study.losses.items()}
    sequences = {f"sequences.{name}": variants for name, variants in study.sequences.items()}
    against = {"against": (study.against,) if study.against else ()}
    for key, names in {**against, **readings, **losses, **sequences}.items():
        for name in names:
            if name not in study.variants:
                raise CascadaError(f"{key} names {name}, which is not a variant.")


def check_tests(study: StudyRecipe, runs: Sequence[Member]) -> None:
    """Check that each target has a test set, and that variants read at another level have levels."""
    read_at_levels = {reading.of for reading in study.readings.values()}
    for member in runs:
        if member.variant in read_at_levels and not hasattr(part(member.recipe.model.kind, "learner"), "at_level"):
            raise CascadaError(
                f"readings: {member.variant} is not a compare-aggregate network; only those can rank by another level."
            )
    for member in runs:
        for name in member.recipe.targets if getattr(member.recipe, "method", "transfer") != "transfer" else ():
            if name not in study.test:
                raise CascadaError(f"test has no {name}, which is a target of the base.")


def rows_of(study: StudyRecipe, variant: str, model: Path) -> Iterator[tuple[str, Path]]:
    """The rows of a model, with the folder to measure: its variant's row, and its readings at other levels."""
    yield variant, model
    for name, reading in study.readings.items():
        if reading.of == variant:
            folder = model / f"at-{slug(reading.level)}"
            if not (folder / SHAPE_FILE).exists():
                part(kind_of(model), "learner").at_level(model, reading.level, folder)
            yield name, folder


def train_member(member: Member, console: Console | None) -> dict[str | None, Path]:
    """Train one member; returns its models by target, with None for a model without a target."""
    from cascada.training.single_run import train_model
    from cascada.training.tanda import TandaRecipe, train_tanda

    if not isinstance(member.recipe, TandaRecipe):
        return {None: train_model(member.recipe, console)}
    folders = train_tanda(member.recipe, console)
    if member.recipe.method == "transfer":
        return {None: folders[0]}
    return dict(zip(member.recipe.targets, folders[-len(member.recipe.targets) :], strict=True))


def measure(
    study: StudyRecipe, model: Path, name: str, tests: Mapping[str, list[Group]]
) -> Iterator[tuple[str, Evaluation, float | None]]:
    """Evaluate a model on a test set: (suffix of the row's name, evaluation, relative cost if it drops candidates)."""
    exits = read_shape(model)["exits"]
    runs = exit_runs_of(study, model, name, tests[name])
    if study.exits == "each":
        for exit, run in zip(exits, runs, strict=True):
            yield f"{EXIT_SUFFIX}{exit}", evaluate(run, qrels(tests[name]), MEASURES), None
    else:
        yield "", evaluate(runs[-1], qrels(tests[name]), MEASURES), None
    if study.drops and len(exits) > 1:
        scores = cascade_scores(runs, exits, tests[name])
        for suffix, evaluation, cost in dropped(scores, study.drops, MEASURES, tests[name]):
            yield f", {suffix}", evaluation, cost


def exit_runs_of(study: StudyRecipe, model: Path, name: str, groups: list[Group]) -> list[Run]:
    """A run for each exit, or for the last one alone where that is enough; TREC files in the model's folder."""
    from cascada.training.precision import products_in

    each = study.exits == "each" or (study.drops and len(read_shape(model)["exits"]) > 1)
    suffixes = [f"-exit{exit}" for exit in read_shape(model)["exits"]] if each else [""]
    paths = [model / f"test-{slug(name)}{suffix}.trec" for suffix in suffixes]
    runs = [read_run(path) for path in paths if path.exists()]
    if len(runs) < len(paths) or not all(_covers(run, groups) for run in runs):
        with products_in(study.precision):
            runs = _ranked(model, groups, each=bool(each))
        for run, path in zip(runs, paths, strict=True):
            write_run(run, path)
    return runs


def sequenced(
    study: StudyRecipe, trained: Mapping[tuple[str, str, int], Path], tests: Mapping[str, list[Group]]
) -> Iterator[Measurement]:
    """The rows of sequential rankers, from the runs of their models, which have been measured before."""
    for (row, variants), test, seed in itertools.product(study.sequences.items(), tests, study.seeds):
        models = [trained[key] for variant in variants if (key := (variant, test, seed)) in trained]
        if len(models) == len(variants):
            runs = [exit_runs_of(study, model, test, tests[test])[-1] for model in models]
            layers = [read_shape(model)["exits"][-1] for model in models]
            scores = sequence_scores(runs, layers, tests[test])
            for suffix, evaluation, cost in dropped(scores, study.drops, MEASURES, tests[test]):
                yield Measurement(f"{row}, {suffix}", test, seed, evaluation, cost)


def _covers(run: Run, groups: list[Group]) -> bool:
    """Whether a cached run ranks these questions and candidates; `test` may have changed."""
    expected = {
        str(group.id): {str(candidate.id) for candidate in group.candidates} for group in groups if group.candidates
    }
    return {question: set(scores) for question, scores in run.items()} == expected


def _ranked(model: Path, groups: list[Group], *, each: bool) -> list[Run]:
    """Rank without dropping candidates, even if a drop plan has been saved with the model."""
    from cascada.ranking import Ranker
    from cascada.ranking.inputs import RankOptions
    from cascada.ranking.runs import exit_runs, run_of

    ranker = Ranker.load(str(model))
    return exit_runs(ranker, groups) if each else [run_of(ranker, groups, RankOptions(drop=0, long="first"))]


def _seed_keys(content: dict[str, Any], seed: int, transfer: str) -> dict[str, Any]:
    """The keys that set a recipe's seed. A TANDA transfer is trained once, with its own seed, or for `each seed`.

    Fine-tuning without settings of its own uses the transfer's; here it gets a copy of them, with another seed.
    """
    if content.get("kind", "train") == "train":
        return {"training.seed": seed}
    keys: dict[str, Any] = {}
    transfer_training = (content.get("transfer") or {}).get("training") or {}
    if transfer == "each seed":
        output = (content.get("transfer") or {}).get("output") or str(Path(content["output"]) / "transfer")
        keys |= {"transfer.output": f"{output}-seed{seed}", "transfer.training.seed": seed}
    for name, target in (content.get("targets") or {}).items():
        keys[f"targets.{name}.adapt.seed"] = seed
        keys[f"targets.{name}.finetune"] = {**((target or {}).get("finetune") or transfer_training), "seed": seed}
    return keys


def slug(name: str) -> str:
    """A name in a form that can be part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
