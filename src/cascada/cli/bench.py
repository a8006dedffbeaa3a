"""`cascada bench [MODEL]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cascada.cli.options import AsJson, whole_numbers
from cascada.core.errors import CascadaError

CANDIDATES = "10,100,400,1000,4000"
QUICK_SHAPE = "2x24"


def bench(
    model: Annotated[
        str | None,
        typer.Argument(help="A ranker's folder, trained or exported (then without peers); none: the model in the box."),
    ] = None,
    shape: Annotated[
        str | None, typer.Option(help="Instead: random weights in a BERT of so many layers and such a width, 12x768.")
    ] = None,
    candidates: Annotated[str, typer.Option(help="Numbers of candidates, with commas.")] = CANDIDATES,
    engines: Annotated[
        str | None, typer.Option(help="Only those whose name contains one of these parts, with commas: int8,torch.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of each engine and number.")] = 7,
    seconds: Annotated[
        float, typer.Option(min=0, help="Three measurements do where they took longer than this in sum.")
    ] = 30,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds after which one measurement is given up.")] = 900,
    seed: Annotated[int, typer.Option(min=0, help="Of the candidates' words.")] = 0,
    peers: Annotated[
        str | None, typer.Option(help="The Python of another environment, for peers not installed in this one.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tiny model and few candidates: does it all run?")] = False,
    picture: Annotated[Path | None, typer.Option(help="Draw time against candidates into this file.")] = None,
    results: Annotated[
        list[Path] | None, typer.Option("--from", help="Measure nothing; show this file of results. Again for more.")
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print tables for a page.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare Cascada's engines with other libraries' on the same weights, in one run."""
    from cascada.systems.load import BUNDLED_FOLDER

    if model and shape:
        raise CascadaError("Give a model or --shape, not both.")
    if shape:
        _check_shape(shape)
    if picture and results and len(results) > 1:
        raise CascadaError("--picture draws one file of results.")
    if results:
        found = [_read(path) for path in results]
    else:
        source = model or shape or (QUICK_SHAPE if quick else str(BUNDLED_FOLDER))
        counts = "4,12" if quick and candidates == CANDIDATES else candidates
        repeats = 2 if quick else repeats
        found = [_run(source, counts, engines, (repeats, seconds, timeout), seed, peers, quick=quick)]
    if picture:
        from cascada.bench.show import draw

        draw(found[0], picture)
    _print(found, as_json=as_json, as_markdown=as_markdown)


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
    from cascada.bench.engines import ENGINES, chosen
    from cascada.bench.measure import Plan
    from cascada.bench.run import Bench

    wanted = chosen(engines.split(",") if engines else None)
    if not wanted:
        raise CascadaError(f"--engines {engines}: there are {', '.join(one.name for one in ENGINES)}.")
    counts = whole_numbers(candidates, "--candidates") or []
    if min(counts) < 1:
        raise CascadaError(f"--candidates {candidates}: expected numbers from 1.")
    repeats, seconds, timeout = limits
    plan = Plan(tuple(sorted(set(counts))), repeats, seconds, timeout, **({"pause": 0.0} if quick else {}))
    return Bench(source, wanted, plan, peers, seed, starts=1 if quick else 5, tell=_tell).run()


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CascadaError(f"{path} cannot be read as results: {error}") from error
    if not isinstance(found, dict) or not {"engines", "machine", "model", "texts"} <= found.keys():
        raise CascadaError(f"{path} has no results of `cascada bench --json`.")
    return found


def _print(found: list[dict[str, Any]], *, as_json: bool, as_markdown: bool) -> None:
    from cascada.bench.show import markdown, show

    if as_json:
        print(json.dumps(found[0] if len(found) == 1 else found, indent=1))
    elif as_markdown:
        print("\n".join(markdown(one) for one in found), end="")
    else:
        from rich.console import Console

        for one in found:
            show(one, Console())
