"""The examples in the documentation run, and print what they say they print."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_the_examples_of_the_page():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("module", ["answers", "evaluate", "measures", "significance"])
def test_the_examples_in_docstrings(module):
    # By import_module: the package's attribute `evaluate` is the function.
    found = doctest.testmod(importlib.import_module(f"cascada.metrics.{module}"))
    assert found.attempted > 0
    assert found.failed == 0
