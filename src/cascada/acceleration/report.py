"""The result of an acceleration, for people and programs: `acceleration.md`, `acceleration.json` and a picture."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown

from cascada.core.files import atomic_write
from cascada.ranking.plan import Plan, Rule, plan_dict, ratio_of
from cascada.ranking.stage import Ints
from cascada.ranking.tuning import Tuning
from cascada.ranking.tuning.picture import draw
from cascada.ranking.tuning.replay import COST

REPORT_FILE, RESULTS_FILE, PICTURE_FILE = "acceleration.md", "acceleration.json", "acceleration.png"

AGREEMENT, RECIPROCAL_RANK = "P@1", "MRR"
"""With the model's own best candidate as the only correct one, P@1 is how often both put the same candidate first."""

ROWS = 8
"""Settings of the front that the report shows."""


@dataclass(frozen=True)
class ExitReport:
    """One exit before the last."""

    exit: int
    head: str
    """What scores candidates there, in words."""
    ranks: Ints  # (questions,): where it ranks the model's best candidate, on questions that nothing was learned on

    def to_dict(self) -> dict[str, Any]:
        """Median and high quantiles of the ranks."""
        median, high, highest = np.quantile(self.ranks, (0.5, 0.95, 0.99)).tolist()
        return {"exit": self.exit, "head": self.head, "median_rank": median, "rank_95": high, "rank_99": highest}


@dataclass(frozen=True)
class Accelerated:
    """The result of `accelerate`. Prints as a report with rich."""

    folder: Path
    model: str
    questions: dict[str, int]
    """How many questions heads were learned on, the plan was chosen on and tested on; and how many were left out."""
    pairs: int
    exits: tuple[ExitReport, ...]
    """The exits below the last one."""
    last: ExitReport
    tuning: Tuning
    """Against the model's own order; `checked_on` are the questions that nothing was learned on."""
    joint: int = 0
    """Epochs in which the layers were fine-tuned; 0 if the last exit is the model itself."""

    @property
    def plan(self) -> Plan:
        return self.tuning.chosen.plan

    @property
    def relative_cost(self) -> float:
        """Mean relative cost on the questions that nothing was learned on."""
        return self.tuning.chosen.checked_on.chosen[COST]

    @property
    def agreement(self) -> float:
        """Share of those questions whose first candidate is the model's own."""
        return self.tuning.chosen.checked_on.chosen[AGREEMENT]

    def to_dict(self) -> dict[str, Any]:
        """The result as `cascada accelerate --json` prints it."""
        tuning = self.tuning.to_dict()
        content = {
            "path": str(self.folder),
            "model": self.model,
            "questions": self.questions,
            "pairs": self.pairs,
            **plan_dict(self.plan),
            COST: self.relative_cost,
            "agreement": self.agreement,
            "exits": [exit.to_dict() for exit in self.exits],
            "certificate": tuning["chosen"].get("certificate"),
            "tuning": tuning,
        }
        last = self.tuning.chosen.checked_on.full
        joint = {"epochs": self.joint, **{name: last[name] for name in (AGREEMENT, RECIPROCAL_RANK)}}
        return content | {"joint": joint} if self.joint else content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Markdown(self.markdown())

    def markdown(self) -> str:
        """The report."""
        counts, chosen = self.questions, self.tuning.chosen
        promise = str(chosen.certificate) if chosen.certificate else f"The plan is {chosen.how}."
        held_out = f"the {chosen.checked_on.questions} questions that nothing was learned on"
        left_out = f" {counts['left_out']:,} questions were left out: repeated, or with fewer than two candidates."
        return f"""# {self.folder.name}: {Path(self.model).name} as a cascade

{promise} On {held_out}, its relative cost is **{self.relative_cost:.3f}**, and its first candidate is the model's own
in **{100 * self.agreement:.1f} %**.

{self._exits()}

The rank is that of the model's best candidate among all candidates of {held_out}. {self._last_exit()}

## Cost against agreement

{self._front()}

![cost against agreement]({PICTURE_FILE})

## How it was made

Model: `{self.model}`. {self.pairs:,} pairs without labels: heads were learned on {counts["heads"]:,} questions. They
were compared on {counts["plan"]:,} others, which chose the plan too. All was tested on {counts["test"]:,} more.\
{left_out if counts["left_out"] else ""}
"""

    def _exits(self) -> str:
        rows = ["| exit | scored by | median rank | 95 % | 99 % | then stay |", "|---|---|---|---|---|---|"]
        for exit, stays in zip((*self.exits, self.last), (*map(_stays, self.plan), ""), strict=True):
            row = exit.to_dict()
            ranks = " | ".join(f"{row[name]:.0f}" for name in ("median_rank", "rank_95", "rank_99"))
            rows.append(f"| {exit.exit} | {exit.head} | {ranks} | {stays} |")
        return "\n".join(rows)

    def _last_exit(self) -> str:
        if not self.joint:
            return "The last exit is the model itself: without drops its scores are unchanged."
        agreement = 100 * self.tuning.chosen.checked_on.full[AGREEMENT]
        return (
            f"The layers were fine-tuned in {self.joint} epochs, so the last exit is no longer the original model bit "
            f"for bit: without drops, its first candidate is the original's in {agreement:.1f} % of these questions. "
            "The model that agreement and certificate speak of is the original."
        )

    def _front(self) -> str:
        """Some settings of drop ratios on the Pareto front, over the plan's and the tested questions."""
        tuning = self.tuning
        places = np.linspace(0, len(tuning.front) - 1, min(ROWS, len(tuning.front))).round().astype(int)
        before = ", ".join(str(exit.exit) for exit in self.exits)
        columns = f"stay after exits {before} | relative cost | same first candidate | MRR of the model's best"
        rows = [f"| {columns} |", "|---|---|---|---|"]
        for place in (tuning.front[place] for place in places):
            rows.append(_row(", ".join(map(_stays, tuning.settings.plans[place])), tuning.settings.row(place)))
        chosen = ", ".join(map(_stays, tuning.chosen.plan))
        return "\n".join([*rows, _row(f"**chosen: {chosen}**", tuning.chosen.figures)])


def write_report(result: Accelerated, folder: Path) -> None:
    """Write the report, its figures and its picture."""
    folder.mkdir(parents=True, exist_ok=True)
    draw(result.tuning, folder / PICTURE_FILE, (AGREEMENT, RECIPROCAL_RANK))
    with atomic_write(folder / REPORT_FILE) as file:
        file.write(result.markdown())
    with atomic_write(folder / RESULTS_FILE) as file:
        json.dump(result.to_dict(), file, indent=2)


def _row(first: str, figures: dict[str, float]) -> str:
    return f"| {first} | {figures[COST]:.3f} | {100 * figures[AGREEMENT]:.1f} % | {figures[RECIPROCAL_RANK]:.3f} |"


def _stays(rule: Rule) -> str:
    """How many candidates stay after an exit."""
    return f"{rule}" if isinstance(rule, int) else f"{100 * (1 - float(ratio_of(rule))):.0f} %"
