"""``config``: the settings in force, and those that are changed while easeml runs."""

from typing import Annotated

import typer

from easeml.cli.options import Json
from easeml.cli.output import print_done, print_list
from easeml.client import Client

config = typer.Typer(no_args_is_help=True, help="Settings of a running easeml (providers only).")


def register(app: typer.Typer) -> None:
    """Add ``config`` to the root."""
    app.add_typer(config, name="config")


@config.command("show")
def show_settings(as_json: Json = False) -> None:
    """Show the settings in force, and where each comes from."""
    with Client() as client:
        found = list(client.settings())
    columns = {"name": "name", "value": "value", "from": "origin", "what it is": "about"}
    print_list(found, columns, as_json=as_json)


@config.command("set")
def set_setting(
    name: Annotated[str, typer.Argument(help="Name of the setting: policy or optimizer.")],
    value: Annotated[str, typer.Argument(help="What it is to be.")],
    as_json: Json = False,
) -> None:
    """Change a setting while easeml runs; it is kept for later starts.

    A setting that a flag or an environment variable sets cannot be changed this way.
    """
    with Client() as client:
        found = client.set_setting(name, value=value)
    print_done(found, f"{found.name} is {found.value} now.", as_json=as_json)
