"""The papers' claims, and the rules by which each is judged: a verdict is computed from kept results, never written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from cascada.reproduce.yaml_file import Strict, read_yaml

Pair = tuple[str, str]
Name = Annotated[str, Field(min_length=1)]


class Above(Strict):
    """The first row's measure is higher than the second's."""

    rule: Literal["above"]
    rows: Pair


class NotBelow(Strict):
    """The first row's measure is not lower than the second's by more than chance."""

    rule: Literal["not below"]
    rows: Pair


class Within(Strict):
    """The first row's measure is lower than the second's by at most this share of it."""

    rule: Literal["within"]
    rows: Pair
    share: Annotated[float, Field(gt=0, lt=1)]


class LosesLess(Strict):
    """From clean to noisy, the first pair of rows loses less of the measure than the second."""

    rule: Literal["loses less"]
    first: Pair
    second: Pair


class VariesLess(Strict):
    """The first row's measure varies less between seeds than the second's."""

    rule: Literal["varies less"]
    rows: Pair


class Ratio(Strict):
    """The first row's value, divided by the second's, is at least, or at most, a given number."""

    rule: Literal["ratio"]
    rows: Pair
    value: Name
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Ratio:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("a ratio has either at_least or at_most")
        return self


class Layers(Strict):
    """The computed cost of 128 candidates, relative to all 12 layers on all of them, is the paper's; nothing is run."""

    rule: Literal["layers"]
    sequential: bool = False
    drops: dict[str, float]
    """Drop ratio → the paper's figure."""
    tolerance: float = 0.01


Rule = Annotated[Above | NotBelow | Within | LosesLess | VariesLess | Ratio | Layers, Field(discriminator="rule")]


class Claim(Strict):
    """One statement of a paper, and how it is judged."""

    claim: Name
    """One sentence."""
    where: Name
    """The table or figure of the paper."""
    paper: Name
    """The paper's figures."""
    judged: Rule
    measure: str = "MAP"
    results: str | None = None
    """The study whose kept results are read."""
    tests: tuple[str, ...] = ()
    """The claim is shown if it is shown on each of these test sets."""
    command: Name

    @model_validator(mode="after")
    def _says_what_it_reads(self) -> Claim:
        if (self.results is None) != isinstance(self.judged, Layers) or bool(self.results) != bool(self.tests):
            raise ValueError("a claim names results and tests, unless its rule is layers")
        if self.measure != "MAP" and isinstance(self.judged, (LosesLess, VariesLess, NotBelow)):
            raise ValueError(f"the rule {self.judged.rule} is for MAP, which is kept by question")
        return self


class PaperClaims(Strict):
    name: Name
    title: Name
    claims: list[Claim]


class Claims(Strict):
    papers: list[PaperClaims]

    def all(self) -> Iterable[tuple[PaperClaims, Claim]]:
        return ((paper, claim) for paper in self.papers for claim in paper.claims)


def read_claims(path: Path) -> Claims:
    """Read and check the file of claims."""
    return read_yaml(path, Claims)


def rows_of(judged: Rule) -> tuple[str, ...]:
    """The rows of results that a rule reads."""
    if isinstance(judged, Layers):
        return ()
    return (*judged.first, *judged.second) if isinstance(judged, LosesLess) else judged.rows
