"""The repository's own papers file: no table or figure is missing, and every file that commands name exists."""

import re
from pathlib import Path

import pytest

from cascada.core.errors import CascadaError
from cascada.reproduce.clone import FOLDERS
from cascada.reproduce.papers import read_papers
from cascada.training.recipes import read_recipe
from cascada.training.study import StudyRecipe, members

REPOSITORY = Path(__file__).parents[2]
CAPTIONS = {"cascade": (3, 2), "tanda": (10, 4), "dc-bert": (3, 2), "hierarchical": (2, 4)}
"""How many tables and figures each paper has."""

papers = read_papers(REPOSITORY / "recipes" / "papers.yaml")
RESULTS = {f"{paper.name} {result.number}": result for paper, result in papers.all()}
COMMANDS = {
    command.text(quick=quick): command.words(quick=quick)
    for result in RESULTS.values()
    for size in ("full", "short")
    for command in result.commands.get(size, [])
    for quick in (False, True)
}


def test_every_table_and_figure_of_the_papers_is_listed_once():
    expected = {
        f"{name} {kind} {number}"
        for name, counts in CAPTIONS.items()
        for kind, count in zip(("Table", "Figure"), counts, strict=True)
        for number in range(1, count + 1)
    }
    assert set(RESULTS) == expected
    assert sum(1 for _ in papers.all()) == len(expected) == 30


def test_only_drawings_and_private_data_have_nothing_to_run():
    without = {name for name, result in RESULTS.items() if not result.commands}
    assert all(re.match("A drawing|The data is private", RESULTS[name].note) for name in without)
    assert {name for name in without if "Table" in name} == {"tanda Table 8", "tanda Table 9", "tanda Table 10"}


def test_pages_and_files_of_the_repository_that_results_name_exist():
    named = {result.page for result in RESULTS.values()}
    for words in [*COMMANDS.values(), *(command.words(quick=True) for command in papers.world)]:
        named |= {word for word in words if word.partition("/")[0] in FOLDERS}
    assert {name for name in named if not (REPOSITORY / name).is_file()} == set()
    assert len(named) > 20


TRAININGS = {text: words for text, words in COMMANDS.items() if words[:2] == ["cascada", "train"]}


@pytest.mark.parametrize("words", TRAININGS.values(), ids=TRAININGS)
def test_every_recipe_is_valid_with_the_changes_its_command_makes(words):
    changes = dict(words[place + 1].split("=", 1) for place, word in enumerate(words) if word == "--set")
    recipe = read_recipe(REPOSITORY / words[2], changes)
    if isinstance(recipe, StudyRecipe):
        assert list(members(recipe))


def test_what_commands_read_is_made_by_a_command_before():
    """Under runs/ there is nothing but what the result's own commands write there."""
    for name, result in RESULTS.items():
        for size, commands in result.commands.items():
            made: set[str] = set()
            for command in commands:
                words = command.words(quick=False)
                if words[:2] == ["cascada", "train"]:
                    made.add(output_of(words))
                elif words[1] in ("export", "encode"):
                    made.add(words[-3] if words[1] == "encode" else words[-1])
                inputs = {part for word in words[1:] for part in re.findall(r"runs/[^+@=]+", word)}
                missing = {path for path in inputs if not any(path.startswith(folder) for folder in made)}
                assert not {path for path in missing if not path.endswith((".png", ".npz"))}, (name, size, command.run)


def output_of(words):
    changes = dict(words[place + 1].split("=", 1) for place, word in enumerate(words) if word == "--set")
    return read_recipe(REPOSITORY / words[2], changes).output


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("cascade table 3", ["Table 3"]),
        ("CT, Fig. 2", ["Figure 2"]),
        ("Cascade Transformer Tab 1", ["Table 1"]),
        ("DC-BERT table 2", ["Table 2"]),
        ("hierarchical-ranking figure 4", ["Figure 4"]),
        ("dc-bert", ["Table 1", "Table 2", "Table 3", "Figure 1", "Figure 2"]),
    ],
)
def test_names_are_matched_loosely(name, numbers):
    assert [result.number for _, result in papers.named([name])] == numbers


def test_all_is_everything_and_a_result_named_twice_is_run_once():
    assert papers.named(["all"]) == list(papers.all())
    assert len(papers.named(["tanda table 1", "tanda table 1", "TANDA Table 1"])) == 1


@pytest.mark.parametrize(
    ("name", "near"),
    [("tanda table 11", "tanda table 1"), ("cascad tabel 3", "cascade table 3"), ("xyz", "cascada reproduce --list")],
)
def test_an_unknown_name_is_rejected_with_similar_ones(name, near):
    with pytest.raises(CascadaError, match=f"There is no result called '{name}'.*{near}"):
        papers.named([name])
