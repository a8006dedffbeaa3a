"""Tables of a benchmark's results, and ratios between engines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from cascada.bench.engines import SENTENCE_TRANSFORMERS, SENTENCE_TRANSFORMERS_INT8
from cascada.bench.measure import OWN_LISTS

PLAN = re.compile(r" α=|, ")
"""Separates an engine's name from what it drops."""

OWN_LISTS_NAME = "own lists"
"""Column name where the lists of the data set were timed as they are, instead of a number of candidates."""

REFERENCE = 400
"""The number of candidates at which ratios are shown, if it was measured."""


@dataclass(frozen=True)
class Table:
    """Cells as text; the first column is a name, the others are numbers."""

    title: str
    header: list[str]
    rows: list[list[str]]


def tables(results: dict[str, Any]) -> list[Table]:
    """All tables of one benchmark."""
    measured = [_seconds(results), _ratios(results), _memory(results)]
    if "quality" in results:
        measured.insert(0, _quality(results))
    return measured + ([_overheads(results)] if "start" in results else [])


def heading(results: dict[str, Any]) -> str:
    """The model and the machine, one line each."""
    model, machine, texts = results["model"], results["machine"], results["texts"]
    cpu = machine["cpu"]
    flags = " ".join(name for name, there in cpu["instructions"].items() if there)
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    exits = ", ".join(map(str, model["exits"]))
    return (
        f"{model['source']}: {model['layers']} layers of {model['hidden']}, exits {exits}; "
        f"pairs of {texts['tokens_mean']:g} tokens on average\n"
        f"{cpu['model']}, {cpu['cores']} cores ({flags}); Python {machine['python']}, {versions}; "
        f"load before the run {machine['load_before']}"
    )


def reference(results: dict[str, Any]) -> int | None:
    """The number of candidates to compare at: OWN_LISTS, else REFERENCE, else the largest that was measured."""
    counts = candidates(results)
    return next((count for count in (OWN_LISTS, REFERENCE) if count in counts), max(counts, default=None))


def ratios(results: dict[str, Any], candidates: int) -> dict[str, dict[str, float]]:
    """Each engine's speed at this number of candidates, relative to the others, its own α=0 and the peak."""
    cells = {row["engine"]: cell for row in results["engines"] if (cell := _cell(row, candidates))}
    full = max((cell.get("full_flops", 0) for cell in cells.values()), default=0)
    peak = results.get("int8_peak", {}).get("all cores", {}).get("gops")
    by_engine = {}
    for name, cell in cells.items():
        own = cells.get(f"{PLAN.split(name)[0]} α=0") if name.startswith("cascada") else None
        figures = {
            "against torch": _over(results, cells.get(SENTENCE_TRANSFORMERS.name), cell),
            "against ONNX int8": _over(results, cells.get(SENTENCE_TRANSFORMERS_INT8.name), cell),
            "against own α=0": _over(results, own, cell) if own is not cell else None,
            "by arithmetic": cell["full_flops"] / cell["flops"] if own and own is not cell else None,
            "of the peak": cell.get("flops", full) / seconds(results, cell) / peak / 1e9
            if peak and "int8" in name
            else None,
        }
        if figures["against own α=0"] and figures["by arithmetic"]:
            figures["realised"] = figures["against own α=0"] / figures["by arithmetic"]
        by_engine[name] = {key: value for key, value in figures.items() if value}
    return by_engine


def _quality(results: dict[str, Any]) -> Table:
    """The quality of every engine on the data set, beside its speed."""
    about, count = results["quality"], reference(results) or 0
    measure, by_engine = about["measure"], ratios(results, count)
    header = ["", measure, "cost (95th percentile)", "seconds", "× s-t torch", "× s-t int8", "cost of the lists timed"]
    rows = []
    for row in results["engines"]:
        quality, cell = row.get("quality"), _cell(row, count)
        if quality is None or cell is None:
            continue
        times = [by_engine[row["engine"]].get(key) for key in ("against torch", "against ONNX int8")]
        cost = f"{quality['relative_cost']:.3f}" if "relative_cost" in quality else "–"
        cost += f" ({quality['relative_cost_p95']:.3f})" if "relative_cost_p95" in quality else ""
        rows.append(
            [
                row["engine"],
                f"{quality[measure]:.4f}{'*' if 'of' in quality else ''}",
                cost,
                f"{seconds(results, cell):.3f}",
                *(f"{value:.2f}" if value else "–" for value in times),
                f"{cell['relative_cost']:.3f}" if "relative_cost" in cell else "–",
            ]
        )
    borrowed = next((row["quality"]["of"] for row in results["engines"] if "of" in row.get("quality", {})), None)
    note = f"; * that of {borrowed}, whose layers it runs under another head" if borrowed else ""
    return Table(f"{quality_title(results)}, and {_how_timed(results)} seconds {at(count)}{note}", header, rows)


def quality_title(results: dict[str, Any]) -> str:
    """The measure and the data set."""
    about = results["quality"]
    lists = f"{about['questions']:,} questions, {about['candidates_mean']:g} candidates on average"
    return f"{about['measure']} on {about['data']} ({lists})"


def _seconds(results: dict[str, Any]) -> Table:
    counts = candidates(results)
    rows = []
    for row in results["engines"]:
        cells = [_cell(row, count) for count in counts]
        times = [f"{seconds(results, cell):.3f} ({cell['p95']:.3f})" if cell else "–" for cell in cells]
        problem = f": {row['problem']}" if row["problem"] else ""
        rows.append([row["engine"] + problem, *times])
    title = f"Seconds by candidates: {_how_timed(results)} (95th percentile)"
    return Table(f"{title}{_lists_timed(results)}", ["", *map(_column, counts)], rows)


def _ratios(results: dict[str, Any]) -> Table:
    count = reference(results) or 0
    header = ["", "per second", "× s-t torch", "× s-t int8", "× own α=0", "arithmetic", "realised", "of peak", "growth"]
    rows = []
    for row in results["engines"]:
        figures, cell = ratios(results, count).get(row["engine"]), _cell(row, count)
        if figures is None or cell is None:
            continue
        keys = ("against torch", "against ONNX int8", "against own α=0", "by arithmetic")
        times = [f"{figures[key]:.2f}" if key in figures else "–" for key in keys]
        shares = [f"{figures[key]:.0%}" if key in figures else "–" for key in ("realised", "of the peak")]
        longest = max(row["cells"], key=lambda cell: _ranked(cell))
        growth = f"{_throughput(results, cell) / _throughput(results, longest):.2f}" if longest is not cell else "–"
        rows.append([row["engine"], f"{_throughput(results, cell):,.0f}", *times, *shares, growth])
    return Table(at(count).capitalize(), header, rows)


def _memory(results: dict[str, Any]) -> Table:
    counts = candidates(results)
    rows = []
    for row in results["engines"]:
        cells = [_cell(row, count) for count in counts]
        if any(cells):
            rows.append([row["engine"], *(f"{cell['peak_memory'] / 1e6:,.0f}" if cell else "–" for cell in cells)])
    return Table("Peak memory of the process in MB, by candidates", ["", *map(_column, counts)], rows)


def _overheads(results: dict[str, Any]) -> Table:
    names = {
        "import cascada": "`import cascada`",
        "import sentence_transformers": "`import sentence_transformers`",
        "cascada rank": "`cascada rank`, 100 candidates, from start to end of the process",
        "CrossEncoder.predict": "the same with sentence-transformers",
    }
    rows = [[names[key], f"{seconds:.2f} s"] for key, seconds in results["start"].items()]
    rows += [
        [f"{name} and its dependencies, on disk", f"{size['bytes'] / 1e6:,.0f} MB"]
        for name, size in results["installed"].items()
    ]
    rows += [["int8 matrix products, all cores", f"{peak['gops']:,.0f} GOPS"] for peak in results["int8_peak"].values()]
    return Table("Besides ranking", ["", ""], rows)


def seconds(results: dict[str, Any], cell: dict[str, Any]) -> float:
    """The median; where every repeat ranked another list of the data, the mean: a plan may drop more of one list."""
    return float(cell["mean"] if results["texts"].get("lists") else cell["median"])


def at(candidates: int) -> str:
    """The number of candidates in words."""
    return "on the lists as they are" if candidates == OWN_LISTS else f"at {candidates:,} candidates"


def _throughput(results: dict[str, Any], cell: dict[str, Any]) -> float:
    """Candidates in a second."""
    return _ranked(cell) / seconds(results, cell)


def _ranked(cell: dict[str, Any]) -> float:
    """The mean number of candidates of the lists."""
    return float(cell.get("ranked", cell["candidates"]))


def _how_timed(results: dict[str, Any]) -> str:
    return "mean" if results["texts"].get("lists") else "median"


def _lists_timed(results: dict[str, Any]) -> str:
    """What the times are a mean over; where time ran out, fewer lists than at other numbers of candidates."""
    timed = {count: _repeats(results, count) for count in candidates(results)}
    if not results["texts"].get("lists") or not timed:
        return ""
    if len(set(timed.values())) == 1:
        over = f", over {next(iter(timed.values()))} lists of the data"
    else:
        over = ", over lists of the data: " + ", ".join(f"{number} {at(count)}" for count, number in timed.items())
    ranked = next((_ranked(cell) for row in results["engines"] if (cell := _cell(row, OWN_LISTS))), None)
    return over + (f"; own lists: {ranked:.0f} candidates on average" if ranked else "")


def _repeats(results: dict[str, Any], candidates: int) -> int:
    """How many repeats were timed at this number of candidates; with data, all engines were timed equally often."""
    cells = [cell for row in results["engines"] if (cell := _cell(row, candidates))]
    return max(len(cell["seconds"]) for cell in cells)


def _column(candidates: int) -> str:
    return OWN_LISTS_NAME if candidates == OWN_LISTS else f"{candidates:,}"


def candidates(results: dict[str, Any]) -> list[int]:
    """The numbers of candidates that were measured, or `OWN_LISTS`, by the length of the lists."""
    lengths = {cell["candidates"]: _ranked(cell) for row in results["engines"] for cell in row["cells"]}
    return sorted(lengths, key=lambda count: lengths[count])


def _cell(row: dict[str, Any], candidates: int) -> dict[str, Any] | None:
    return next((cell for cell in row["cells"] if cell["candidates"] == candidates), None)


def _over(results: dict[str, Any], slow: dict[str, Any] | None, fast: dict[str, Any]) -> float | None:
    return seconds(results, slow) / seconds(results, fast) if slow else None
