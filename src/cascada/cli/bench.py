"""`cascada bench [MODEL]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cascada.cli.options import AsJson, whole_numbers
from cascada.core.errors import CascadaError, described

CANDIDATES = "10,100,400,1000,4000"
QUICK_SHAPE = "2x24"


def bench(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A ranker's folder, trained or exported (then without peers); by default the bundled model."
        ),
    ] = None,
    shape: Annotated[
        str | None, typer.Option(help="Instead: a BERT with random weights, given as layers and width, such as 12x768.")
    ] = None,
    candidates: Annotated[str, typer.Option(help="Numbers of candidates, separated by commas.")] = CANDIDATES,
    engines: Annotated[
        str | None, typer.Option(help="Only engines whose name contains one of these, separated by commas: int8,torch.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Repeats for each engine and number of candidates.")] = 7,
    seconds: Annotated[
        float, typer.Option(min=0, help="Stop after three repeats once an engine has used this many seconds.")
    ] = 30,
    timeout: Annotated[float, typer.Option(min=1, help="Abort a measurement after this many seconds.")] = 900,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the candidates' texts.")] = 0,
    peers: Annotated[
        str | None,
        typer.Option(
            help="The Python interpreter of another environment, for peers that are not installed in this one."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only check that everything runs, with a tiny model and few candidates.")
    ] = False,
    picture: Annotated[Path | None, typer.Option(help="Plot time against candidates into this file.")] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option("--from", help="Measure nothing, and show this file of results; may be repeated."),
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print tables in Markdown.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare Cascada's engines with other libraries' on the same weights, in one run."""
    from cascada.systems.load import BUNDLED_FOLDER

    if model and shape:
        raise CascadaError("Give a model or --shape, not both.")
    if shape:
        _check_shape(shape)
    if picture and results and len(results) > 1:
        raise CascadaError("--picture plots a single file of results.")
    if results:
        reports = [_read(path) for path in results]
    else:
        source = model or shape or (QUICK_SHAPE if quick else str(BUNDLED_FOLDER))
        counts = "4,12" if quick and candidates == CANDIDATES else candidates
        repeats = 2 if quick else repeats
        reports = [_run(source, counts, engines, (repeats, seconds, timeout), seed, peers, quick=quick)]
    if picture:
        from cascada.bench.show import draw

        draw(reports[0], picture)
    _print(reports, as_json=as_json, as_markdown=as_markdown)


def _check_shape(shape: str) -> None:
    from cascada.bench.run import SHAPE

    if not SHAPE.fullmatch(shape):
        raise CascadaError(f"--shape {shape}: expected layers and width, such as 12x384.")
    if int(shape.partition("x")[2]) % 12:
        raise CascadaError(f"--shape {shape}: the width must be a multiple of 12, the number of attention heads.")


def _run(
    source: str,
    candidates: str,
    engines: str | None,
    limits: tuple[int, float, float],
    seed: int,
    peers: str | None,
    *,
    quick: bool,
) -> dict[str, Any]:
    from cascada.bench.engines import ENGINES, engines_named
    from cascada.bench.measure import MeasuringPlan
    from cascada.bench.run import Bench

    wanted = engines_named(engines.split(",") if engines else None)
    if not wanted:
        raise CascadaError(f"--engines {engines}: there are {', '.join(engine.name for engine in ENGINES)}.")
    counts = whole_numbers(candidates, "--candidates") or []
    if min(counts) < 1:
        raise CascadaError(f"--candidates {candidates}: expected numbers from 1.")
    repeats, seconds, timeout = limits
    plan = MeasuringPlan(tuple(sorted(set(counts))), repeats, seconds, timeout, **({"pause": 0.0} if quick else {}))
    return Bench(source, wanted, plan, peers, seed, starts=1 if quick else 5, on_progress=_print_line).run()


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CascadaError(f"{path} cannot be read as results: {described(error)}") from error
    if not isinstance(report, dict) or not {"engines", "machine", "model", "texts"} <= report.keys():
        raise CascadaError(f"{path} has no results of `cascada bench --json`.")
    return report


def _print(reports: list[dict[str, Any]], *, as_json: bool, as_markdown: bool) -> None:
    from cascada.bench.show import markdown, show

    if as_json:
        print(json.dumps(reports[0] if len(reports) == 1 else reports, indent=1))
    elif as_markdown:
        print("\n".join(markdown(report) for report in reports), end="")
    else:
        from rich.console import Console

        for report in reports:
            show(report, Console())
