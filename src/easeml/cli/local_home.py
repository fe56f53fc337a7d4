"""Commands that look after a home on this machine, whether easeml runs or not."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.options import given
from easeml.errors import NotFound

if TYPE_CHECKING:
    from easeml.settings import Settings

HomeOption = Annotated[Path | None, typer.Option("--home", help="Folder of all state (.easeml).")]


def local_settings(home: Path | None) -> "Settings":
    """Return the settings of a home that is there. Raises ``NotFound``, ``InvalidInput``."""
    settings = settings_of(home=home)
    if not settings.home.is_dir():
        raise NotFound(
            "There is no home of easeml here.",
            where=str(settings.home),
            remedy="Name its folder with --home, or start one: easeml up.",
        )
    return settings


def settings_of(**flags: Any) -> "Settings":
    """Return the settings with the flags that were given.

    Raises InvalidInput for one that does not fit.
    """
    from pydantic import ValidationError

    from easeml.errors import InvalidInput
    from easeml.settings import Settings

    try:
        return Settings(**given(**flags))
    except ValidationError as error:
        first = error.errors()[0]
        unknown = first["type"] == "extra_forbidden"
        raise InvalidInput(
            "There is no such setting." if unknown else f"{first['msg']}.",
            where=".".join(map(str, first["loc"])),
            remedy="Check the flags, the variables EASEML_* and config.toml in the home.",
        ) from error
