"""The report of claims, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import get_args

from cascada.reproduce.verdicts import SEEDS, SIGNIFICANT, SPREAD_SEEDS, Line, Word

INTRODUCTION = f"""\
# The papers' claims

`cascada reproduce --claims` prints this page: each verdict is computed from the results that are kept in
`docs/results/`, by the rules in [`recipes/claims.yaml`](../recipes/claims.yaml). *Shown* takes at
least {SEEDS} seeds on both sides ({SPREAD_SEEDS} where spreads are compared) and, where one figure is to be higher than
another, p < {SIGNIFICANT} by a paired t-test over the questions' means; of several test sets, the largest p is given.
*Contradicted* means that the opposite is significant. *Not run* means that no results are kept, whatever pages say of
earlier runs."""


def markdown(lines: Sequence[Line]) -> str:
    """A table per paper, and how many claims have each verdict."""
    counts = Counter(line.verdict.word for line in lines)
    summary = ", ".join(f"{counts[word]} {word}" for word in get_args(Word) if counts[word])
    parts = [INTRODUCTION, f"Of {len(lines)} claims: {summary}."]
    for paper, own in groupby(lines, key=lambda line: line.paper):
        rows = [f"| {' | '.join(cell.replace('|', '/') for cell in _cells(line))} |" for line in own]
        head = ["| claim | the paper | verdict | figure | seeds | p | command |", "|---|---|---|---|---|---|---|"]
        parts += [f"## {paper}", "\n".join([*head, *rows])]
    return "\n\n".join(parts) + "\n"


def _cells(line: Line) -> list[str]:
    claim, verdict = line.claim, line.verdict
    word = f"**{verdict.word}**" + (f" ({verdict.reason})" if verdict.reason else "")
    seeds = "" if verdict.seeds is None else str(verdict.seeds)
    p = "" if verdict.p is None else "< .001" if verdict.p < 0.001 else f"{verdict.p:.3f}".removeprefix("0")
    return [f"{claim.claim} ({claim.where})", claim.paper, word, verdict.figure, seeds, p, f"`{claim.command}`"]
