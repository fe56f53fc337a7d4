"""``app rename``: applications over the years."""

from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_json, say
from easeml.client import Client


def add_to(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command()(rename)


def rename(
    application_id: ApplicationId,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    as_json: Json = False,
) -> None:
    """Give an application another name; no address changes."""
    with Client() as client:
        found = client.rename_application(application_id, name)
    if as_json:
        print_json(found)
    else:
        say(f"{found.id} is called {found.name} now.")
