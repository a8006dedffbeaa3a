"""`cascada reproduce RESULT…`."""

from __future__ import annotations

import json
import tempfile
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cascada.cli.options import AsJson
from cascada.core.errors import CascadaError, require

CLAIMS_FILE = "claims.yaml"
"""The file of claims, in the folder of the papers file."""

if TYPE_CHECKING:
    from cascada.reproduce.papers import Paper, Papers, Result
    from cascada.reproduce.runner import Reproduction, Runner


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RESULT]…", help='Such as "cascade table 3"; a paper, such as tanda; or all.'),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the results, and run nothing.")] = False,
    size: Annotated[
        Literal["full", "short"], typer.Option(help="full: as in the papers; short: feasible on two cores in hours.")
    ] = "short",
    quick: Annotated[
        bool, typer.Option("--quick", help="Run the short commands on random models and a few questions, in minutes.")
    ] = False,
    work: Annotated[
        Path | None,
        typer.Option(help="The folder with data/ and encoders, where commands run; by default the current one."),
    ] = None,
    output: Annotated[Path, typer.Option(help="The folder for report.md, report.json, logs and pictures.")] = Path(
        "reproduced"
    ),
    papers: Annotated[Path, typer.Option(help="The file of results and their commands.")] = Path("recipes/papers.yaml"),
    keep: Annotated[
        list[Path] | None,
        typer.Option(help="Add the results of this finished study, a folder, to --results; repeat it for several."),
    ] = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="Report what the kept results say about each claim of the papers.")
    ] = False,
    results: Annotated[Path, typer.Option(help="The folder of kept results.")] = Path("docs/results"),
    as_json: AsJson = False,
) -> None:
    """Reproduce tables and figures of the papers, by their numbers, and report the results."""
    for module in ("yaml", "pydantic"):
        require(module, "train", "reproducing")
    from cascada.reproduce.clone import Clone
    from cascada.reproduce.papers import read_papers
    from cascada.reproduce.report import read_report
    from cascada.reproduce.runner import Runner

    if keep or claims:
        if names:
            raise CascadaError("--keep and --claims run nothing: give no table or figure with them.")
        _keep_and_judge(keep or [], papers.with_name(CLAIMS_FILE) if claims else None, results, as_json)
        return
    known = read_papers(papers)
    if list_ or not names:
        _print_list(known, as_json)
        return
    if quick and size == "full":
        raise CascadaError("--quick and --size full exclude each other: --quick runs the short commands.")
    wanted = known.named(names)
    if work is not None and not quick and not work.is_dir():
        raise CascadaError(f"--work {work}: there is no such folder.")
    read_report(output)  # reject a wrong output folder before the first command
    with _folder(work, quick) as folder:
        runner = Runner(Clone.of(papers), Path(folder), output, size=size, quick=quick)
        reproductions = _run(runner, known, wanted)
    if as_json:
        typer.echo(json.dumps([asdict(reproduction) for reproduction in reproductions]))
    else:
        _print_reproductions(reproductions, output)
    if any(reproduction.problem for reproduction in reproductions):
        raise typer.Exit(1)


def _keep_and_judge(studies: list[Path], claims: Path | None, results: Path, as_json: bool) -> None:
    """Keep the results of studies, and report the claims, if their file is given."""
    from cascada.reproduce.kept_results import keep

    for study in studies:
        typer.echo(f"{keep(study, results)}", err=True)
    if claims is None:
        return
    require("scipy", "eval", "judging claims")
    from cascada.reproduce.claims import read_claims
    from cascada.reproduce.claims_report import markdown
    from cascada.reproduce.verdicts import judge_all

    lines = judge_all(read_claims(claims), results)
    typer.echo(json.dumps([line.to_dict() for line in lines]) if as_json else markdown(lines), nl=as_json)


def _folder(work: Path | None, quick: bool) -> AbstractContextManager[str | Path]:
    if work is None and quick:
        return tempfile.TemporaryDirectory(prefix="cascada-small-", ignore_cleanup_errors=True)
    return nullcontext(work or Path())


def _run(runner: Runner, known: Papers, wanted: list[tuple[Paper, Result]]) -> list[Reproduction]:
    """Run the results one after another. The report is rewritten after each, so that an interruption loses nothing."""
    from cascada.reproduce.report import state, write_report

    if runner.quick and any(result.commands for _, result in wanted):
        runner.prepare(known.world)
    order = [f"{paper.name} {result.number.lower()}" for paper, result in known.all()]
    reproductions: list[Reproduction] = []
    for paper, result in wanted:
        reproduction = runner.run(paper, result)
        reproductions.append(reproduction)
        write_report(runner.output, [reproduction], order, runner.clone.root)
        typer.echo(f"{reproduction.name}: {state(reproduction).strip('*')}", err=True)
        if reproduction.problem:
            typer.echo("\n".join([reproduction.problem, *reproduction.last_lines]), err=True)
    return reproductions


def _print_list(known: Papers, as_json: bool) -> None:
    if as_json:
        rows = [{"paper": paper.name, "title": paper.title, **result.model_dump()} for paper, result in known.all()]
        typer.echo(json.dumps(rows))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE, caption="commands: at full size and at short; – nothing to run; --json says why")
    for name in ("result", "shows", "commands", "page"):
        table.add_column(name, no_wrap=name != "shows")
    for paper in known.papers:
        for result in paper.results:
            counts = "/".join(str(len(result.commands[size])) for size in ("full", "short") if size in result.commands)
            table.add_row(f"{paper.name} {result.number.lower()}", result.shows, counts or "–", result.page)
        table.add_section()
    Console().print(table, markup=False)


def _print_reproductions(reproductions: list[Reproduction], output: Path) -> None:
    from cascada.reproduce.report import MARKDOWN_FILE, state

    for reproduction in reproductions:
        shown = f"{reproduction.name:24}  {reproduction.seconds:7,.0f} s  {state(reproduction).strip('*')}"
        reason = reproduction.problem or ("" if reproduction.commands else reproduction.note)
        typer.echo(f"{shown}: {reason}" if reason else shown)
    typer.echo(f"{output / MARKDOWN_FILE}")
