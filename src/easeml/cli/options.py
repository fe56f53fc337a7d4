"""Options that several commands share."""

from typing import Annotated, Any

import typer

from easeml.errors import InvalidInput

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
ApplicationId = Annotated[str, typer.Argument(metavar="ID", help="Id of the application.")]

Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a text table holds the names; found out where left out.",
    ),
]

KeepFormulas = Annotated[
    bool,
    typer.Option(
        "--keep-formulas",
        help="Leave text that starts with =, +, - or @ as it is; spreadsheets may run it.",
    ),
]


def comma_separated(text: str) -> list[str]:
    """Return the parts of ``a, b,c``; an empty part is none."""
    parts = map(str.strip, text.split(","))
    return list(filter(None, parts))


def given(**options: Any) -> dict[str, Any]:
    """Return by name the options that somebody gave: those that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def exactly_one(*told: object, otherwise: InvalidInput) -> None:
    """Raise ``otherwise`` unless one of some options was given, and no other of them."""
    if sum(map(bool, told)) != 1:
        raise otherwise


def at_most_one(*told: object, otherwise: InvalidInput) -> None:
    """Raise ``otherwise`` where several of some options were given."""
    if sum(map(bool, told)) > 1:
        raise otherwise
