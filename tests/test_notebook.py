"""The notebook runs from its first cell to its last, and shows what its text says."""

import ast
import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOK = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def executed(code, names):
    """Run a cell as a notebook does: the value of a last expression is its output."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "a cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "a cell", "eval"), names) if last else None


@pytest.fixture(scope="module")
def outputs():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(EXAMPLES)
        names = {}
        return [executed(code, names) for code in CODE]


def test_every_cell_runs_and_the_text_is_right_about_it(outputs):
    count, ranking, cost, best, full, likely, answers, answer, nothing = outputs
    assert count == 234
    assert "disastrous financial situation" in ranking.items[0].text
    assert cost == pytest.approx(0.256, abs=0.001)
    assert best[:2] == (212, 12)
    assert full == (1.0, True)
    assert likely[0][0] == 134
    assert "Lavoisier" in answer[0]
    assert answers[0].text == answer[0]
    assert nothing is False


def test_what_a_notebook_shows_is_drawn_as_html(outputs):
    assert "disastrous financial situation" in outputs[1]._repr_html_()


def test_the_notebook_is_saved_without_outputs():
    assert all(not cell.get("outputs") for cell in NOTEBOOK["cells"])
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
