"""Whether easeml can be started as a file of ``deploy`` says: its commands, settings and probes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from obstore.store import S3Store

from easeml.api.authentication import OPEN
from easeml.cli.main import app
from easeml.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
USER = 10001
HOME = "/var/lib/easeml"
_PREFIX = "EASEML_"


def check_command(words: Sequence[str]) -> dict[str, Any]:
    """Return the parsed options of a command line. Raises the usage errors of the command line."""
    root: Any = typer.main.get_command(app)
    context = root.make_context("easeml", list(words))
    name, command, rest = root.resolve_command(context, [*context._protected_args, *context.args])
    return command.make_context(name, rest, parent=context).params


def check_settings(variables: Mapping[str, str]) -> Settings:
    """Return the settings that variables give. Raises for one that is no setting, or has no value
    of one.
    """
    named = {
        name.removeprefix(_PREFIX).lower(): value
        for name, value in variables.items()
        if name.startswith(_PREFIX)
    }
    return Settings(**named)  # pyright: ignore[reportArgumentType]  as the environment has it


def check_bucket(variables: Mapping[str, str]) -> None:
    """Raise for a variable that no client of a bucket knows."""
    config = {name.lower(): value for name, value in variables.items() if name.startswith("AWS_")}
    S3Store("bucket", config=config)  # pyright: ignore[reportArgumentType]


def check_probe(path: str) -> None:
    """Raise for a path that answers nobody without a key."""
    assert path in OPEN, path
