"""The root command, and how errors leave the program."""

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from easeml import __version__
from easeml.cli import (
    accounts,
    applications,
    ci,
    clean,
    data,
    feasibility,
    label,
    meter,
    modules,
    monitor,
    picking,
    predicting,
    schema,
    services,
    simulate,
    work,
)
from easeml.cli.output import print_error
from easeml.errors import EasemlError, InvalidInput, NotAllowed, NotFound, NotSignedIn, TimedOut, TooLarge, Unreachable

_EXIT_CODES: list[tuple[type[EasemlError], int]] = [
    (InvalidInput, 2),
    (NotFound, 2),
    (TooLarge, 2),
    (TimedOut, 3),
    (NotSignedIn, 4),
    (NotAllowed, 4),
    (Unreachable, 5),
]


def exit_code(error: EasemlError) -> int:
    """Return the program's exit code for an error: 1 unless it has one of its own."""
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), 1)


class _Root(TyperGroup):
    """Shows errors of easeml as messages and turns them into exit codes."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except EasemlError as error:
            print_error(error)
            raise typer.Exit(exit_code(error)) from error


app = typer.Typer(
    cls=_Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="From a table to a served model. Exit codes: 0 yes, 1 no, 2 wrong use or invalid input, "
    "3 timed out, 4 not allowed, 5 service unreachable, 6 cannot tell.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Take the options that stand before any command."""


services.register(app)
accounts.register(app)
predicting.register(app)
work.register(app)
modules.register(app)
app.add_typer(applications.app, name="app")
for room in (schema, data, feasibility, clean, label, picking, ci, meter, monitor, simulate):  # these need no service
    room.register(app)


def main() -> None:
    """Run the command line on the program's arguments; ends the program."""
    try:
        app()
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        sys.exit(1)
