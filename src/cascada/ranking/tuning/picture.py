"""A plot of quality against cost with a dot for every setting, like Figure 2 of the Cascade Transformer paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cascada.core.errors import CascadaError, require
from cascada.metrics.measures import DEFAULT_MEASURES
from cascada.ranking.plan import ratio_of
from cascada.ranking.stage import START
from cascada.ranking.tuning.choose import front
from cascada.ranking.tuning.replay import COST
from cascada.ranking.tuning.tune import Tuning

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, CHOSEN, WITHOUT = "#222222", "#d62728", "#e07b00"


def draw(tuning: Tuning, path: Path, measures: Sequence[str] | None = None) -> None:
    """Plot the settings, with one panel for each measure, two in a row. The ending of `path` determines the format.

    By default, the measures are the tuned one and three others.
    """
    require("matplotlib", "eval", "drawing")
    from matplotlib.figure import Figure

    measures = measures or list(dict.fromkeys((tuning.measure, *DEFAULT_MEASURES)))[:4]
    rows = -(-len(measures) // 2)
    figure = Figure(figsize=(11, 1.5 + 3.5 * rows), layout="constrained")
    settings = tuning.settings
    counts = f"{len(settings.plans):,} settings, {settings.questions:,} questions"
    figure.suptitle(f"{tuning.title}: {counts}" if tuning.title else counts, fontsize=13)
    panels = figure.subplots(rows, 2, sharex=True).flat
    for panel, measure in zip(panels, measures, strict=True):
        _panel(panel, tuning, measure)
    _legend(figure, figure.axes[0])
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CascadaError(f"The picture {path} cannot be written: {' '.join(str(error).split())}.") from error


def _panel(panel: Axes, tuning: Tuning, measure: str) -> None:
    cost, value = tuning.settings.columns[COST], 100 * tuning.settings.columns[measure]
    _dots(panel, tuning, measure)
    best = front(tuning.settings, measure)
    panel.plot(cost[best], value[best], color=INK, linewidth=1.3, drawstyle="steps-post", label="front", zorder=3)
    if 0 in list(tuning.single_exits)[:-1]:
        _front_without_exit_zero(panel, tuning, measure)
    panel.axhline(100 * tuning.full[measure], color=INK, linestyle=":", linewidth=1, label="full model")
    _single_exits(panel, tuning, measure)
    chosen = tuning.chosen.figures
    where = (chosen[COST], 100 * chosen[measure])
    panel.plot(*where, "*", color=CHOSEN, markersize=17, markeredgecolor="white", label="chosen", zorder=5)
    panel.set_title(measure, loc="left", fontsize=11, fontweight="bold")
    panel.grid(alpha=0.25)
    panel.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    panel.xaxis.set_tick_params(labelbottom=True)
    panel.set_xlabel("relative cost")
    panel.margins(y=0.1)


def _front_without_exit_zero(panel: Axes, tuning: Tuning, measure: str) -> None:
    """The front of the plans in which exit 0 drops nothing, for comparison."""
    place = list(tuning.single_exits).index(0)
    rows = np.flatnonzero([float(ratio_of(plan[place])) == 0 for plan in tuning.settings.plans])
    if len(rows):
        settings = tuning.settings.take(rows)
        best = front(settings, measure)
        cost, value = settings.columns[COST][best], 100 * settings.columns[measure][best]
        label = "front without exit 0"
        panel.plot(cost, value, "--", color=WITHOUT, linewidth=1.5, drawstyle="steps-post", label=label, zorder=3)


def _dots(panel: Axes, tuning: Tuning, measure: str) -> None:
    """A dot for each setting, coloured by the drop ratio of the first exit, which determines most of the cost."""
    from matplotlib import colormaps

    exit = next(iter(tuning.single_exits))
    name = START if exit == START else f"exit {exit}"
    first = [float(ratio_of(plan[0])) for plan in tuning.settings.plans]
    shades = sorted(set(first))
    colours = colormaps["viridis_r"](np.linspace(0.08, 0.92, len(shades)))
    for shade, colour in zip(shades, colours, strict=True):
        rows = np.flatnonzero(np.array(first) == shade)
        panel.plot(
            tuning.settings.columns[COST][rows],
            100 * tuning.settings.columns[measure][rows],
            ".",
            color=colour,
            markersize=4,
            alpha=0.45,
            label=f"{name} drops {shade:g}",
        )


def _single_exits(panel: Axes, tuning: Tuning, measure: str) -> None:
    """A diamond for each model that ends at a single exit; those far below the settings are left out."""
    value = tuning.settings.columns[measure]
    lowest = value.min() - 0.6 * max(tuning.full[measure] - value.min(), 0.01)
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
    for exit, row in tuning.single_exits.items():
        if row[measure] >= lowest:
            where = (row[COST], 100 * row[measure])
            label = "all stop at exit …"
            panel.plot(*where, "D", color="white", markeredgecolor=INK, markersize=6, label=label, zorder=4)
            panel.annotate(
                str(exit), where, (0, -15), textcoords="offset points", ha="center", fontsize=9, bbox=box, zorder=6
            )


def _legend(figure: Figure, panel: Axes) -> None:
    handles, labels = panel.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    legend = figure.legend(list(once.values()), list(once), loc="outside lower center", ncols=4, frameon=False)
    for handle, label in zip(legend.legend_handles, once, strict=True):
        if handle and "drops" in label:
            handle.set(alpha=1, markersize=9)
