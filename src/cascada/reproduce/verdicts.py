"""Verdicts on the papers' claims, computed from the kept results.

A difference counts as shown with at least `SEEDS` seeds on both sides and p < `SIGNIFICANT`; with fewer seeds, or where
chance may have made it, the claim is shown in part. It is contradicted where the opposite is significant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal

from cascada.metrics import Evaluation
from cascada.metrics.significance import compare
from cascada.ranking.cost import CostModel
from cascada.reproduce.claims import (
    Above,
    Claim,
    Claims,
    Layers,
    LosesLess,
    NotBelow,
    Ratio,
    Rule,
    VariesLess,
    Within,
    rows_of,
)
from cascada.reproduce.kept_results import KeptResults, read_kept
from cascada.systems.cascade.shape import default_exits
from cascada.training.measured import Result, evaluation_of

Word = Literal["shown", "shown in part", "not shown", "contradicted", "not run"]

SEEDS = 3
SIGNIFICANT = 0.05
SPREAD_SEEDS = 5
"""Seeds on both sides that a comparison of spreads needs."""
LAYERS, CANDIDATES = 12, 128
"""Of the paper's example of costs."""


@dataclass(frozen=True)
class Verdict:
    """What the results say about a claim, on one test set or on several."""

    word: Word
    figure: str = ""
    seeds: int | None = None
    """The smallest number of seeds of a row; None where seeds do not apply."""
    p: float | None = None
    reason: str = ""
    """Why it is not plainly shown."""


@dataclass(frozen=True)
class Line:
    """A line of the report."""

    paper: str
    claim: Claim
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        claim = self.claim
        return {
            "paper": self.paper,
            "claim": claim.claim,
            "where": claim.where,
            "paper_says": claim.paper,
            "command": claim.command,
            **asdict(self.verdict),
        }


def judge_all(claims: Claims, folder: Path) -> list[Line]:
    """A line for every claim; `folder` has the kept results."""
    kept: dict[str, KeptResults] = {}
    lines = []
    for paper, claim in claims.all():
        if claim.results and claim.results not in kept:
            kept[claim.results] = read_kept(folder / f"{claim.results}.json")
        lines.append(Line(paper.title, claim, judge(claim, kept.get(claim.results or "", KeptResults()))))
    return lines


def judge(claim: Claim, kept: KeptResults) -> Verdict:
    """The verdict on a claim, over all of its test sets."""
    if isinstance(claim.judged, Layers):
        return _layers(claim.judged)
    by_test = {test: _on_one_test(claim, kept, test) for test in claim.tests}
    return combined(by_test)


def combined(by_test: Mapping[str, Verdict]) -> Verdict:
    """Shown if all are; not run if none was run; contradicted or not shown if none is shown, even in part."""
    run = {test: verdict for test, verdict in by_test.items() if verdict.word != "not run"}
    if not run:
        return next(iter(by_test.values()))
    words = {verdict.word for verdict in run.values()}
    if words == {"shown"} and len(run) == len(by_test):
        word: Word = "shown"
    elif words & {"shown", "shown in part"}:
        word = "shown in part"
    else:
        word = "contradicted" if "contradicted" in words else "not shown"
    several = len(by_test) > 1

    def joined(parts: Mapping[str, str]) -> str:
        return "; ".join(f"{test}: {part}" if several else part for test, part in parts.items() if part)

    seeds = [verdict.seeds for verdict in run.values() if verdict.seeds is not None]
    p = [verdict.p for verdict in run.values() if verdict.p is not None]
    reasons = {test: verdict.reason for test, verdict in run.items()}
    reasons |= {test: "not run" for test in by_test if test not in run}
    figures = joined({test: verdict.figure for test, verdict in run.items()})
    return Verdict(word, figures, min(seeds, default=None), max(p, default=None), joined(reasons))


def _on_one_test(claim: Claim, kept: KeptResults, test: str) -> Verdict:
    rows = {row: kept.of(row, test) for row in rows_of(claim.judged)}
    missing = [row for row, results in rows.items() if not results]
    if missing:
        return Verdict("not run", reason=f"no results of {', '.join(missing)}")
    judged: Rule = claim.judged
    if isinstance(judged, Ratio):
        return _ratio(judged, *(rows[row] for row in judged.rows))
    if isinstance(judged, LosesLess):
        return _loses_less(*(rows[row] for row in (*judged.first, *judged.second)))
    assert not isinstance(judged, Layers)
    first, second = (rows[row] for row in judged.rows)
    if isinstance(judged, VariesLess):
        return _varies_less(first, second)
    return _compared(judged, claim.measure, first, second)


def _compared(judged: Above | NotBelow | Within, measure: str, a: Sequence[Result], b: Sequence[Result]) -> Verdict:
    """Rules about the means of two rows. p is that of MAP: the other measures are not kept by question.

    `within` compares with the least that it allows, (1 - share) of the second row.
    """
    allowed = judged.share if isinstance(judged, Within) else 0.0
    first, second = (fmean(value_of(own, measure) for own in results) for results in (a, b))
    tested = measure == "MAP" and comparable(a, b)
    p = p_of(evaluation_of(a), _scaled(evaluation_of(b), 1 - allowed)) if tested else None
    seeds = min(len(a), len(b))
    figure = f"{measure} {_short(first)} against {_short(second)}"
    lower = first < (1 - allowed) * second and p is not None and p < SIGNIFICANT
    if isinstance(judged, Above):
        word, reason = _of_difference(first - second, p, seeds, needs_p=measure == "MAP")
    else:
        holds = first >= (1 - allowed) * second or (isinstance(judged, NotBelow) and p is not None and not lower)
        word, reason = ("shown" if holds else "contradicted" if lower else "not shown"), ""
        if holds and seeds < SEEDS:
            word, reason = "shown in part", _few(seeds)
    return Verdict(word, figure, seeds, p, reason)


def _of_difference(
    difference: float, p: float | None, seeds: int, *, enough: int = SEEDS, needs_p: bool = True
) -> tuple[Word, str]:
    """The verdict on `difference` > 0, and why it is not plainly shown."""
    significant = p is not None and p < SIGNIFICANT
    if difference <= 0:
        return ("contradicted", "the opposite is significant") if significant and difference < 0 else ("not shown", "")
    reasons = [_few(seeds)] if seeds < enough else []
    reasons += ["chance may have made it"] if needs_p and not significant else []
    reasons += ["no test of this measure"] if not needs_p else []
    return ("shown in part", ", ".join(reasons)) if reasons else ("shown", "")


def _loses_less(
    clean: Sequence[Result], noisy: Sequence[Result], other_clean: Sequence[Result], other_noisy: Sequence[Result]
) -> Verdict:
    """Whether the first ranker loses less MAP from clean to noisy than the other, by a paired t-test of the two losses
    over the questions."""
    losses = [_difference(evaluation_of(a), evaluation_of(b)) for a, b in ((clean, noisy), (other_clean, other_noisy))]
    first, second = (loss.mean["MAP"] for loss in losses)
    seeds = min(map(len, (clean, noisy, other_clean, other_noisy)))
    p = p_of(*losses)
    word, reason = _of_difference(second - first, p, seeds)
    return Verdict(word, f"MAP lost {_short(first)} against {_short(second)}", seeds, p, reason)


def _varies_less(a: Sequence[Result], b: Sequence[Result]) -> Verdict:
    """By the F-test of two variances over the seeds, two-sided."""
    seeds = min(len(a), len(b))
    if seeds < 2:
        return Verdict("not shown", "one seed", seeds, reason="a spread needs seeds")
    from scipy.stats import f

    first, second = (stdev(value_of(own, "MAP") for own in results) for results in (a, b))
    ratio = (first / second) ** 2 if second else float("inf")
    below = float(f.cdf(ratio, len(a) - 1, len(b) - 1))
    p = 2 * min(below, 1 - below)
    word, reason = _of_difference(second - first, p, seeds, enough=SPREAD_SEEDS)
    return Verdict(word, f"± {_short(first)} against ± {_short(second)}", seeds, p, reason)


def _ratio(judged: Ratio, a: Sequence[Result], b: Sequence[Result]) -> Verdict:
    """Of costs or speeds: no test applies, and one seed is enough."""
    first, second = (fmean(value_of(own, judged.value) for own in results) for results in (a, b))
    ratio = first / second
    holds = ratio >= judged.at_least if judged.at_least is not None else ratio <= (judged.at_most or 0)
    bound = f"at least {judged.at_least:g}" if judged.at_least is not None else f"at most {judged.at_most:g}"
    return Verdict(
        "shown" if holds else "not shown", f"{judged.value}: {ratio:.3g} times ({bound})", min(len(a), len(b))
    )


def _layers(judged: Layers) -> Verdict:
    exits = default_exits(LAYERS)
    costs = {
        drop: CostModel(exits, (Decimal(drop),) * (len(exits) - 1), judged.sequential).relative_cost(CANDIDATES)
        for drop in judged.drops
    }
    holds = all(abs(costs[drop] - expected) <= judged.tolerance for drop, expected in judged.drops.items())
    figure = ", ".join(f"{relative:.3f} at {drop}" for drop, relative in costs.items())
    return Verdict("shown" if holds else "not shown", f"{figure} (within {judged.tolerance:g})")


def value_of(result: Result, name: str) -> float:
    return float(result["values"][name])


def comparable(a: Sequence[Result], b: Sequence[Result]) -> bool:
    """Whether both rows have each question's MAP, over the same questions."""
    return all("by_question" in own for own in (*a, *b)) and len({own["digest"] for own in (*a, *b)}) == 1


def p_of(a: Evaluation, b: Evaluation) -> float | None:
    """p of the paired t-test over the questions; None if all questions differ by the same amount."""
    return compare(a, b, "MAP", rounds=1).t_p


def _difference(a: Evaluation, b: Evaluation) -> Evaluation:
    first, second = a.by_question["MAP"], b.by_question["MAP"]
    return Evaluation({"MAP": {question: first[question] - second[question] for question in first}})


def _scaled(evaluation: Evaluation, factor: float) -> Evaluation:
    return Evaluation({"MAP": {name: factor * value for name, value in evaluation.by_question["MAP"].items()}})


def _few(seeds: int) -> str:
    return f"{seeds} seed{'' if seeds == 1 else 's'}"


def _short(value: float) -> str:
    """Three decimals without a leading zero, as in the papers: .872."""
    return f"{value:.3f}".replace("0.", ".", 1)
