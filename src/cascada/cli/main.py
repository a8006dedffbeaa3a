"""The command line, `cascada COMMAND …`, with one file per command. Heavy modules are imported only when needed."""

from __future__ import annotations

import io
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

import cascada
from cascada.cli import (
    accelerate,
    ask,
    bench,
    calibrate,
    cost,
    cut,
    data,
    doctor,
    encode,
    evaluate,
    export,
    index,
    mcp,
    prune,
    rank,
    scale,
    serve,
    store,
    train,
    tune,
)
from cascada.core.errors import CascadaError

# click's class, whether typer bundles click or imports it
UsageError: type[typer.BadParameter] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="cascada",
    help="Picks the answer out of hundreds of candidate sentences, in a fraction of the compute.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(data.app, name="data")
app.add_typer(store.app, name="store")
app.add_typer(scale.app, name="scale")
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("tune")(tune.tune)
app.command("rank")(rank.rank)
app.command("prune")(prune.prune)
app.command("ask")(ask.ask)
app.command("index")(index.index)
app.command("encode")(encode.encode)
app.command("cost")(cost.cost)
app.command("cut")(cut.cut)
app.command("calibrate")(calibrate.calibrate)
app.command("accelerate")(accelerate.accelerate)
app.command("export")(export.export)
app.command("serve")(serve.serve)
app.command("mcp")(mcp.mcp)
app.command("bench")(bench.bench)
if find_spec("cascada.reproduce"):  # only in a clone: the wheel does not contain it
    from cascada.cli import reproduce

    app.command("reproduce")(reproduce.reproduce)
app.command("doctor")(doctor.doctor)


def print_version(wanted: bool) -> None:
    if wanted:
        print(cascada.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


def main() -> None:
    """Run a command. A user's mistake prints a sentence and exits with 2; Ctrl-C exits with 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may lack a character; a file's name need not be text
    try:
        sys.exit(app(standalone_mode=False))
    except UsageError as error:
        message = error.format_message()
        print(message if "\n" in message else f"cascada: {message} See --help.", file=sys.stderr)
        sys.exit(2)
    except (CascadaError, OSError) as error:
        print(f"cascada: {error}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)


if __name__ == "__main__":
    main()
