"""Options that several commands share."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
ApplicationId = Annotated[str, typer.Argument(metavar="ID", help="Id of the application.")]
