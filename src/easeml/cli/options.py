"""Options that several commands share."""

from typing import Annotated

import typer

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
