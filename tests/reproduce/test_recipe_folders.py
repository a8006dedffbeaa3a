"""The repository's recipes do not train into each other's folders."""

from collections import defaultdict
from pathlib import Path

import pytest

from cascada.training.recipes import read_recipe
from cascada.training.study import StudyRecipe, check_names, check_tests, members
from cascada.training.tanda import TandaRecipe, transfer_step

RECIPES = Path(__file__).parents[2] / "recipes"
NOT_RECIPES = ("papers.yaml", "claims.yaml")
PATHS = sorted(path for path in RECIPES.rglob("*.yaml") if path.name not in NOT_RECIPES)


def test_every_recipe_has_an_output_folder_of_its_own():
    outputs = defaultdict(list)
    for path in PATHS:
        outputs[read_recipe(path).output].append(path.name)
    assert {output: names for output, names in outputs.items() if len(names) > 1} == {}


@pytest.mark.parametrize("path", [path for path in PATHS if "tanda" in path.parts], ids=lambda path: path.stem)
def test_runs_that_share_a_transferred_ranker_describe_it_alike(path):
    recipe = read_recipe(path)
    recipes = [member.recipe for member in members(recipe)] if isinstance(recipe, StudyRecipe) else [recipe]
    steps = defaultdict(set)
    for own in recipes:
        if isinstance(own, TandaRecipe) and own.method in ("tanda", "transfer"):
            step = transfer_step(own)
            steps[step.output].add(step.model_dump_json())
    assert [output for output, different in steps.items() if len(different) > 1] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_studies_can_be_run_to_their_end(path):
    recipe = read_recipe(path)
    if isinstance(recipe, StudyRecipe):
        check_names(recipe)
        check_tests(recipe, list(members(recipe)))
