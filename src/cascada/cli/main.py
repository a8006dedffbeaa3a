"""The command line: `cascada COMMAND …`. One file per command; what is heavy is imported when it is needed."""

from __future__ import annotations

import io
import sys

import typer

from cascada.cli import data, doctor, evaluate, rank, train
from cascada.errors import CascadaError

app = typer.Typer(
    name="cascada",
    help="Picks the answer out of hundreds of candidate sentences, in a fraction of the compute.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(data.app, name="data", help="Data sets: statistics, conversion, label noise.")
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("rank")(rank.rank)
app.command("doctor")(doctor.doctor)


def main() -> None:
    """A user's mistake is one sentence on stderr and exit code 2; Ctrl-C is 130; only bugs show a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # not every terminal has every sign
    try:
        app()
    except CascadaError as error:
        print(f"cascada: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            sys.exit(141)
        print(f"cascada: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
