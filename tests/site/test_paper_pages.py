"""The papers' pages name every table and figure that can be run, as `cascada reproduce` understands it."""

import re
from pathlib import Path

import pytest

from cascada.reproduce.papers import read_papers

ROOT = Path(__file__).parents[2]
PAPERS = read_papers(ROOT / "recipes" / "papers.yaml")
PAGES = {
    "cascade": "cascade-transformer.md",
    "tanda": "tanda.md",
    "dc-bert": "dc-bert.md",
    "hierarchical": "hierarchical-ranking.md",
}


@pytest.mark.parametrize("paper", PAPERS.papers, ids=lambda paper: paper.name)
def test_every_result_that_can_be_run_is_named(paper):
    text = (ROOT / "docs" / "papers" / PAGES[paper.name]).read_text(encoding="utf-8")
    named = [result for _, result in PAPERS.named(re.findall(r"`\"([^`\"]+)\"`", text))]
    assert named == [result for result in paper.results if result.commands]


@pytest.mark.parametrize("paper", PAPERS.papers, ids=lambda paper: paper.name)
def test_the_other_results_are_told_of(paper):
    text = (ROOT / "docs" / "papers" / PAGES[paper.name]).read_text(encoding="utf-8")
    told = {f"{kind} {number}" for kind, number in re.findall(r"(Table|Figure) (\d+):", text)}
    for kind, first, last in re.findall(r"(Table|Figure)s (\d+) to (\d+):", text):
        told |= {f"{kind} {number}" for number in range(int(first), int(last) + 1)}
    assert {result.number for result in paper.results} <= told
