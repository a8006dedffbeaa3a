"""The report of a study: `results.json`, `measured.json`, `table.md`, the pictures `epochs.png` and `losses.png`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascada.core.files import atomic_write
from cascada.metrics import Evaluation, compare, over_seeds
from cascada.training.measured import MEASURED_FILE, result_of, write_results
from cascada.training.study import EXIT_SUFFIX, MEASURES, Measurement, StudyRecipe

Evaluations = Mapping[tuple[str, str], Sequence[Evaluation]]
"""(variant, test set) → one evaluation per seed."""
Histories = Mapping[tuple[str, str | None], Sequence[Path]]
"""(variant, its target if any) → one `history.json` per seed."""


def write_report(study: StudyRecipe, measurements: Sequence[Measurement], histories: Histories) -> dict[str, Any]:
    """Write all files into the study's folder; returns the content of `results.json`."""
    evaluations: dict[tuple[str, str], list[Evaluation]] = {}
    costs: dict[tuple[str, str], list[float]] = {}
    for measured in measurements:
        evaluations.setdefault((measured.row, measured.test), []).append(measured.evaluation)
        costs.setdefault((measured.row, measured.test), []).extend([] if measured.cost is None else [measured.cost])
    folder = Path(study.output)
    folder.mkdir(parents=True, exist_ok=True)  # all of its runs may be elsewhere
    rows = [_row(study, evaluations, *key) for key in evaluations]
    for row, values in zip(rows, costs.values(), strict=True):
        row |= {"cost": float(np.mean(values))} if values else {}
    results = {"seeds": list(study.seeds), "rows": rows}
    with atomic_write(folder / "results.json") as file:
        json.dump(results, file, indent=1)
    write_measured(study, measurements)
    with atomic_write(folder / "table.md") as file:
        file.write(table(study, rows))
    several = len({target for _, target in histories}) > 1
    curves = {
        f"{variant}, {target}" if several and target else variant: _curves(paths)
        for (variant, target), paths in histories.items()
    }
    if any(curves.values()):
        draw(curves, folder / "epochs.png")
    if study.losses:
        by_variant: dict[str, list[Path]] = {}
        for (variant, _), paths in histories.items():
            by_variant.setdefault(variant, []).extend(paths)
        draw_losses(study.losses, by_variant, folder / "losses.png")
    return results


def write_measured(study: StudyRecipe, measurements: Sequence[Measurement]) -> None:
    """Write `measured.json`, after every run: a study that is stopped early can keep what it has."""
    folder = Path(study.output)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(folder / MEASURED_FILE) as file:
        kept = (result_of(own.row, own.test, own.seed, own.evaluation, own.cost) for own in measurements)
        write_results(file, {"study": folder.name}, kept)


def _row(study: StudyRecipe, evaluations: Evaluations, variant: str, test: str) -> dict[str, Any]:
    own = evaluations[variant, test]
    spread = over_seeds([evaluation.mean for evaluation in own])
    row: dict[str, Any] = {"variant": variant, "test": test, "questions": own[0].questions}
    for name in MEASURES:
        values = [evaluation.mean[name] for evaluation in own]
        row[name] = {"mean": spread[name].mean, "std": spread[name].std, "seeds": values}
    _, suffix, exit = variant.partition(EXIT_SUFFIX)
    baseline = f"{study.against}{suffix}{exit}"
    if study.against and variant != baseline and (baseline, test) in evaluations:
        test_result = compare(averaged(own), averaged(evaluations[baseline, test]), "MAP")
        row["against"] = {
            "difference": test_result.difference,
            "t_p": test_result.t_p,
            "randomisation_p": test_result.randomisation_p,
        }
    return row


def averaged(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Each question's mean over the seeds: the samples of a significance test are questions, not seeds."""
    first = evaluations[0].by_question
    return Evaluation(
        {
            name: {
                question: float(np.mean([evaluation.by_question[name][question] for evaluation in evaluations]))
                for question in values
            }
            for name, values in first.items()
        }
    )


def table(study: StudyRecipe, rows: Sequence[Mapping[str, Any]]) -> str:
    """A Markdown table with a row per variant and test set."""
    against = f" over {study.against} | p (t-test) |" if study.against else ""
    with_cost = any("cost" in row for row in rows)
    names = [*(["cost"] if with_cost else []), *MEASURES]
    lines = [f"| test | variant | {' | '.join(names)} |{against}"]
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    for row in sorted(rows, key=lambda row: row["test"]):
        cells = [row["test"], row["variant"]]
        cells += [f"{row['cost']:.3f}" if "cost" in row else ""] if with_cost else []
        cells += [_cell(row[name]) for name in MEASURES]
        if study.against:
            compared = row.get("against")
            t_p = "–" if not compared or compared["t_p"] is None else f"{compared['t_p']:.3f}"
            cells += [f"{compared['difference']:+.4f}" if compared else "", t_p]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n\nSeeds: {', '.join(map(str, study.seeds))}.\n"


def _cell(value: Mapping[str, Any]) -> str:
    spread = "" if value["std"] is None else f" ± {value['std']:.4f}"
    return f"{value['mean']:.4f}{spread}"


def _curves(paths: Sequence[Path]) -> list[list[tuple[float, float]]]:
    """(epoch, MAP of the watched set) for each run that has one."""
    curves = []
    for path in paths:
        rows = json.loads(path.read_text(encoding="utf-8"))["dev"]
        if rows and "watch_MAP" in rows[0]:
            curves.append([(row["epoch"], row["watch_MAP"]) for row in rows])
    return curves


def draw(curves: Mapping[str, Sequence[Sequence[tuple[float, float]]]], path: Path) -> None:
    """Plot MAP of the watched set over the epochs: a line for the mean over seeds, dots for each seed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="epoch", ylabel="MAP")
    for index, (variant, runs) in enumerate(curves.items()):
        if not runs:
            continue
        shortest = min(len(run) for run in runs)
        points = np.array([run[:shortest] for run in runs])  # (seeds, evaluations, 2)
        mean = points.mean(0)
        axes.plot(mean[:, 0], mean[:, 1], color=f"C{index}", label=variant)
        axes.plot(points[..., 0].ravel(), points[..., 1].ravel(), ".", color=f"C{index}", alpha=0.5)
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def draw_losses(levels: Mapping[str, Sequence[str]], histories: Mapping[str, Sequence[Path]], path: Path) -> None:
    """Plot the training loss by epoch: a panel per level, a line for each of the variants named for it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4 * len(levels)), layout="constrained")
    for panel, (level, variants) in enumerate(levels.items(), 1):
        axes = figure.add_subplot(len(levels), 1, panel, xlabel="epoch", ylabel=f"training loss, {level} level")
        for variant in variants:
            losses = mean_losses(histories[variant], level)
            axes.plot(np.arange(1, len(losses) + 1), losses, "o-", markersize=3, label=variant)
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def mean_losses(histories: Sequence[Path], level: str) -> NDArray[np.float64]:
    """(epochs,): the mean loss over the seeds, for the epochs that all of them have."""
    runs = [losses_by_epoch(json.loads(path.read_text(encoding="utf-8"))["train"], level) for path in histories]
    shortest = min(len(run) for run in runs)
    return np.array([run[:shortest] for run in runs], np.float64).mean(0)  # type: ignore[no-any-return]


def losses_by_epoch(rows: Sequence[Mapping[str, float]], level: str) -> list[float]:
    """The mean of the losses logged in each epoch; empty for a run without that level."""
    epochs: dict[int, list[float]] = {}
    for row in rows:
        if f"loss_{level}" in row:
            epochs.setdefault(ceil(row["epoch"]), []).append(row[f"loss_{level}"])
    return [float(np.mean(losses)) for _, losses in sorted(epochs.items())]
