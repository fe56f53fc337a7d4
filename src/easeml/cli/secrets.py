"""``rotate-secret``: a new secret for the processes of a home."""

from typing import Annotated

import typer

from easeml.cli.local_home import HomeOption, local_settings
from easeml.cli.output import say
from easeml.errors import NotFound


def register(app: typer.Typer) -> None:
    """Add the command of this module to the root."""
    app.command("rotate-secret")(rotate_secret)


def rotate_secret(
    home: HomeOption = None,
    overlap: Annotated[
        float, typer.Option(min=0, help="Seconds for which the old one is accepted.")
    ] = 60.0,
) -> None:
    """Change the secret that the processes of a home share, while easeml runs or not.

    Nobody is signed out.
    """
    from easeml.engine import internal_secret

    settings = local_settings(home)
    if not (settings.home / internal_secret.NAME).exists():
        raise NotFound(
            "There is no secret yet; the first start makes it.", where=str(settings.home)
        )
    internal_secret.rotate(settings.home, overlap)
    say(f"The secret is changed; the old one is accepted for {overlap:g} seconds more.")
