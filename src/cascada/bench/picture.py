"""Pictures of a benchmark: quality against speed if a data set was ranked, otherwise time against candidates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cascada.bench.engines import SENTENCE_TRANSFORMERS
from cascada.bench.report import PLAN, at, candidates, quality_title, reference, seconds
from cascada.core.errors import CascadaError, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

PEER, OWN = "#555555", ("#1f77b4", "#d62728", "#2ca02c")

SIDES = (
    (1, 0),
    (-1, 0),
    (0, 1),
    (0, -1),
    (1, 1),
    (1, -1),
    (-1, 1),
    (-1, -1),
    (0.3, 1),
    (0.3, -1),
    (-0.3, 1),
    (-0.3, -1),
)
NEAR = tuple(product((11, 20, 32, 46, 62, 80, 100, 125), SIDES))
"""Where a label may stand: distances from its point in points, and directions, right and up."""

SPAN = 0.04
"""The picture shows at least this much of the measure, so that differences of thousandths look like what they are."""


def draw(results: dict[str, Any], path: Path) -> Figure:
    """Draw the picture of these results. The suffix of `path` sets the format."""
    require("matplotlib", "eval", "drawing")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    panel = figure.subplots()
    panel.grid(alpha=0.25, which="both")
    if any("quality" in row for row in results["engines"]):
        _quality_against_speed(figure, panel, results)
    elif "quality" in results:
        raise CascadaError("There is no picture: no engine was measured on the data.")
    else:
        _time_against_candidates(panel, results)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CascadaError(f"{path} cannot be drawn: {' '.join(str(error).split())}.") from error
    return figure


def _quality_against_speed(figure: Figure, panel: Axes, results: dict[str, Any]) -> None:
    """One point per engine; a line joins the plans of an engine that none of its other plans beats."""
    points = _points(results)
    families = dict.fromkeys(point.family for point in points if point.family)
    colours = {"": PEER} | dict(zip(families, cycle(OWN), strict=False))
    exits = ", ".join(map(str, results["model"]["exits"][:-1]))
    for family, colour in colours.items():
        members = [(point.seconds, point.quality) for point in points if point.family == family]
        style: dict[str, Any] = {"marker": "o" if family else "s", "color": colour, "linestyle": "", "markersize": 7}
        label = f"{family} (drop: the shares at exits {exits})" if family else "other libraries"
        panel.plot(*zip(*members, strict=True), label=label, **style) if members else None
    lines = [_front([point for point in points if point.family == family]) for family in families]
    for line, family in zip(lines, families, strict=True):
        panel.plot(*zip(*line, strict=True), color=colours[family], linewidth=1.5, alpha=0.5, zorder=1)
    panel.set_xscale("log")
    panel.margins(x=0.15, y=0.2)
    low, high = panel.get_ylim()
    spare = max(SPAN - (high - low), 0) / 2
    panel.set_ylim(low - spare, high + spare)
    panel.set_xlabel(f"seconds {at(reference(results) or 0)} (logarithmic; further left is faster)")
    panel.set_ylabel(f"{results['quality']['measure']} (higher is better)")
    panel.set_title(f"{_where(results)}\n{quality_title(results)}", loc="left", fontsize=11)
    panel.legend(frameon=False, fontsize=9, loc="best")
    _plain_ticks(panel)
    _times_as_fast(panel, points)
    _label(figure, panel, points, lines, colours)


def _front(points: list[_Point]) -> list[tuple[float, float]]:
    """Seconds and quality of the points that no other beats in both, from the fastest on."""
    front: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda point: (point.seconds, -point.quality)):
        if not front or point.quality > front[-1][1]:
            front.append((point.seconds, point.quality))
    return front


@dataclass(frozen=True)
class _Point:
    """An engine in the picture."""

    name: str
    seconds: float
    quality: float

    @property
    def family(self) -> str:
        """Cascada's engine without what it drops; nothing for a peer."""
        return PLAN.split(self.name)[0] if self.name.startswith("cascada") else ""

    @property
    def label(self) -> str:
        """A peer's name, or what one of Cascada's engines drops."""
        plan = self.name.removeprefix(self.family).removeprefix(",").strip()
        return "nobody dropped" if plan == "α=0" else plan


def _points(results: dict[str, Any]) -> list[_Point]:
    count, measure = reference(results), results["quality"]["measure"]
    return [
        _Point(row["engine"], seconds(results, cell), row["quality"][measure])
        for row in results["engines"]
        for cell in row["cells"]
        if cell["candidates"] == count and row.get("quality")
    ]


def _times_as_fast(panel: Axes, points: list[_Point]) -> None:
    """A second scale on top, if sentence-transformers' torch was measured."""
    peer = next((point.seconds for point in points if point.name == SENTENCE_TRANSFORMERS.name), None)
    if peer:
        import numpy as np

        def inverse(values: Any) -> Any:
            return peer / np.maximum(values, 1e-9)  # the axis tries 0

        top = panel.secondary_xaxis("top", functions=(inverse, inverse))
        top.set_xlabel(f"times as fast as {SENTENCE_TRANSFORMERS.name}", fontsize=9)
        _plain_ticks(top)


def _label(
    figure: Figure,
    panel: Axes,
    points: list[_Point],
    lines: list[list[tuple[float, float]]],
    colours: dict[str, str],
) -> None:
    """Write each point's name at the nearest place where it covers no point, line or other name."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()  # the layout has to be known
    inside = panel.get_window_extent(canvas.get_renderer())
    where = [panel.transData.transform((point.seconds, point.quality)) for point in points]
    legend: Any = panel.get_legend()
    taken = [legend.get_window_extent(canvas.get_renderer())]
    taken += [Bbox.from_bounds(x - 8, y - 8, 16, 16) for x, y in where]
    taken += [Bbox.from_bounds(x - 2, y - 2, 4, 4) for line in lines for x, y in _along(panel, line)]
    for point, _ in sorted(zip(points, where, strict=True), key=lambda pair: -pair[1][1]):
        for offset in NEAR:
            text = _name(panel, point, colours[point.family], *offset)
            text.update_positions(canvas.get_renderer())
            box = Text.get_window_extent(text, canvas.get_renderer()).padded(1)  # without the line that leads to it
            within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if offset == NEAR[-1] or (within and not any(box.overlaps(other) for other in taken)):
                taken.append(box)
                break
            text.remove()


def _along(panel: Axes, line: list[tuple[float, float]]) -> Any:
    """Places in the picture along a line, close to each other."""
    import numpy as np

    corners = panel.transData.transform(line)
    return [a + share * (b - a) for a, b in pairwise(corners) for share in np.linspace(0, 1, 60)]


def _name(panel: Axes, point: _Point, colour: str, distance: float, side: tuple[float, float]) -> Annotation:
    """The point's name at this distance; a thin line leads to it if it is far."""
    right, up = side
    line = {"arrowstyle": "-", "color": "#bbbbbb", "linewidth": 0.7} if distance > NEAR[0][0] else None
    text = panel.annotate(
        point.label,
        (point.seconds, point.quality),
        (distance * right, distance * up),
        textcoords="offset points",
        ha="left" if right > 0 else "right" if right < 0 else "center",
        va="center",
        fontsize=9,
        color=colour,
        arrowprops=line,
    )
    text.set_in_layout(False)  # the layout stays as it is known
    return text


def _plain_ticks(panel: Any) -> None:
    """Plain numbers on a logarithmic axis: 50, 100, 200."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    panel.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    panel.minorticks_off()


def _time_against_candidates(panel: Axes, results: dict[str, Any]) -> None:
    """One line per engine, both axes logarithmic."""
    from matplotlib import colormaps

    peers, own = cycle(colormaps["Greys"]([0.9, 0.75, 0.62, 0.5, 0.4, 0.3])), cycle(colormaps["tab10"].colors)  # type: ignore[attr-defined]
    for row in results["engines"]:
        if not row["cells"]:
            continue
        mine = row["engine"].startswith("cascada")
        counts, times = zip(*((cell["candidates"], seconds(results, cell)) for cell in row["cells"]), strict=True)
        style: dict[str, Any] = {"marker": "o" if mine else "s", "markersize": 4, "linestyle": "-" if mine else "--"}
        panel.plot(counts, times, color=next(own if mine else peers), label=row["engine"], **style)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(counted := candidates(results), [f"{count:,}" for count in counted], minor=False)
    panel.minorticks_off()
    panel.set_xlabel("candidates")
    panel.set_ylabel("seconds")
    panel.set_title(_where(results), loc="left")
    panel.legend(frameon=False, fontsize=8)


def _where(results: dict[str, Any]) -> str:
    model, cpu = results["model"], results["machine"]["cpu"]
    return f"{model['layers']} layers of {model['hidden']}, {cpu['cores']} cores"
