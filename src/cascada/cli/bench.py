"""`cascada bench [MODEL]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cascada.cli.options import AsJson, Root, numbers
from cascada.core.errors import CascadaError, require

if TYPE_CHECKING:
    from cascada.bench.engines import Engine
    from cascada.bench.measure import MeasuringPlan
    from cascada.bench.quality import Quality

CANDIDATES = "10,100,400,1000,4000"
LISTS = "lists"
"""In place of a number of candidates: the lists of the data as they are."""
QUICK_SHAPE = "2x24"
QUESTIONS = 50
"""Questions of the data that quality is measured on by default."""


def bench(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A ranker's folder, trained or exported (then without peers), or a cross-encoder in the hub's layout; "
            "by default the bundled model."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Argument(
            help="Measure quality too, on this data: a known name (with --root), a file, NAME:FILE, or hf:ID."
        ),
    ] = None,
    root: Root = None,
    split: Annotated[str | None, typer.Option(help="Of the data: train, dev, test …; by default test.")] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgements of the data in TREC's or BEIR's layout, in place of its labels.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help="The measure of quality; by default MAP, for graded data nDCG@10.")
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"Questions of the data to measure quality on, spread over all; by default {QUESTIONS}."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="A row with these drop ratios at every exit but the last: 0.8,0.3,0.3; may be repeated."),
    ] = None,
    shape: Annotated[
        str | None, typer.Option(help="Instead: a BERT with random weights, given as layers and width, such as 12x768.")
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            help=f"Numbers of candidates, separated by commas; `{LISTS}` for the data's lists as they are. By default "
            f"{LISTS} with data, {CANDIDATES} without."
        ),
    ] = None,
    engines: Annotated[
        str | None,
        typer.Option(
            help="Only engines with one of these names, or with these in their names, separated by commas: int8,torch."
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(
            min=1,
            help="Repeats for each engine and number of candidates; with data each of another list, as far as there "
            "are lists.",
        ),
    ] = 7,
    seconds: Annotated[
        float,
        typer.Option(
            min=0,
            help="Stop after three repeats once an engine has used this many seconds; with data, all stop then.",
        ),
    ] = 30,
    starts: Annotated[
        int, typer.Option(min=0, help="How often start-up times are measured; 0 leaves them and sizes on disk out.")
    ] = 5,
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
    picture: Annotated[
        Path | None,
        typer.Option(help="Plot quality against speed into this file; without data, time against candidates."),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option("--from", help="Measure nothing, and show this file of results; may be repeated."),
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print tables in Markdown.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare Cascada's engines with other libraries' on the same weights, in one run."""
    from cascada.bench.results import read_results
    from cascada.core.pictures import check_picture
    from cascada.systems.load import BUNDLED_FOLDER

    if model and shape:
        raise CascadaError("Give a model or --shape, not both.")
    if shape:
        _check_shape(shape)
    if data and (shape or (quick and not model)):
        raise CascadaError("Random weights find nothing: to measure quality, name a trained ranker.")
    if not data:
        _refuse_without_data(split=split, qrels=qrels, measure=measure, questions=questions)
    if picture:
        check_picture(picture)
    if results:
        reports = [report for path in results for report in read_results(path)]
    else:
        source = model or shape or (QUICK_SHAPE if quick else str(BUNDLED_FOLDER))
        candidates = candidates or (LISTS if data else "4,12" if quick else CANDIDATES)
        repeats = 2 if quick else repeats
        wanted = _engines(source, engines, drop or [])
        plan = _measuring_plan(candidates, repeats, seconds, timeout, quick=quick, data=bool(data))
        quality = _quality(data, root, split, qrels, measure, questions or QUESTIONS) if data else None
        reports = [_run(source, wanted, plan, seed, peers, quality, 1 if quick else starts)]
    if picture and len(reports) > 1:
        raise CascadaError("--picture plots the results of one run, and there are several.")
    _print(reports, as_json=as_json, as_markdown=as_markdown)
    if picture:
        from cascada.bench.picture import draw

        draw(reports[0], picture)


def _refuse_without_data(**given: object) -> None:
    """Options that say how to read and judge data mean nothing without data."""
    for name, value in given.items():
        if value is not None:
            raise CascadaError(f"--{name} is for measuring quality on data: name the data after the model.")


def _check_shape(shape: str) -> None:
    from cascada.bench.run import SHAPE

    if not SHAPE.fullmatch(shape):
        raise CascadaError(f"--shape {shape}: expected layers and width, such as 12x384.")
    if int(shape.partition("x")[2]) % 12:
        raise CascadaError(f"--shape {shape}: the width must be a multiple of 12, the number of attention heads.")


def _engines(source: str, parts: str | None, drops: list[str]) -> list[Engine]:
    """The engines to measure; the model's own plan and the plans given are always among them, none of them twice."""
    from cascada.bench.engines import ENGINES, OWN_PLAN, engines_named, with_plan
    from cascada.bench.run import exits_of
    from cascada.core.folder import PLAN_FILE
    from cascada.ranking.plan import drop_plan
    from cascada.systems.load import folder_of

    wanted = engines_named(parts.split(",") if parts else None)
    if not wanted:
        raise CascadaError(f"--engines {parts}: there are {', '.join(engine.name for engine in ENGINES)}.")
    exits = exits_of(source)
    plans = [numbers(drop, "--drop") or [] for drop in drops]
    for plan in plans:
        drop_plan(plan, len(exits))  # raises an error if the ratios do not fit the exits
    own = [OWN_PLAN] if (folder_of(source) / PLAN_FILE).is_file() else []
    engines = [*wanted, *own, *map(with_plan, plans)]
    return list({engine.name: engine for engine in engines}.values())


def _measuring_plan(
    candidates: str, repeats: int, seconds: float, timeout: float, *, quick: bool, data: bool
) -> MeasuringPlan:
    from cascada.bench.measure import OWN_LISTS, PAUSE, MeasuringPlan

    parts = [part.strip() for part in candidates.split(",")]
    if LISTS in parts and not data:
        raise CascadaError(f"--candidates {LISTS} times the lists of a data set: name one after the model.")
    if not all(part == LISTS or (part.isdecimal() and int(part)) for part in parts):
        raise CascadaError(f"--candidates {candidates}: expected numbers from 1, or {LISTS}, separated by commas.")
    counts = [OWN_LISTS if part == LISTS else int(part) for part in parts]
    return MeasuringPlan(tuple(sorted(set(counts))), repeats, seconds, timeout, 0.0 if quick else PAUSE)


def _quality(
    data: str, root: Path | None, split: str | None, qrels: Path | None, measure: str | None, questions: int
) -> Quality:
    require("pytrec_eval", "eval", "measuring quality")
    from cascada.api.judgements import Source, judged_data
    from cascada.bench.quality import Quality
    from cascada.data.sample import evenly_spaced
    from cascada.metrics import Measure
    from cascada.ranking.runs import with_candidates

    name = Measure.parse(measure).name if measure else None
    judged = judged_data(Source(data, root=root, split=split, qrels=qrels))
    groups = evenly_spaced(with_candidates(judged.groups), questions)
    if not groups:
        raise CascadaError(f"{judged.name} has no question with candidates.")
    name = name or ("nDCG@10" if judged.graded else "MAP")
    return Quality(judged.name, groups, judged.qrels, name, judged.relevant)


def _run(
    source: str,
    engines: list[Engine],
    plan: MeasuringPlan,
    seed: int,
    peers: str | None,
    quality: Quality | None,
    starts: int,
) -> dict[str, Any]:
    from cascada.bench.run import Bench

    return Bench(source, engines, plan, peers, seed, quality, starts=starts, on_progress=_print_line).run()


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


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
