"""``mcp``: the service as tools for programs that write models by themselves."""

import sys
from typing import Annotated

import typer

from easeml.client import Client


def register(root: typer.Typer) -> None:
    """Add the command to the root."""
    root.command()(mcp)


def mcp(
    allow_changes: Annotated[
        bool,
        typer.Option("--allow-changes", help="Offer tools that change something as well."),
    ] = False,
) -> None:
    """Serve the Model Context Protocol on standard input and output, with your key.

    The tools read applications, what to do next, gates with their ledger and decisions, and
    predict; nothing is changed unless that is allowed. It ends with its input.
    """
    from easeml.mcp import serve, tools_of
    from easeml.mcp.tools import TOLD

    with Client() as client:
        serve(tools_of(client, may_change=allow_changes), TOLD, sys.stdin, sys.stdout)
