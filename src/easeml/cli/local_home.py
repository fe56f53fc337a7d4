"""Commands that look after a home on this machine, whether easeml runs or not."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.options import given
from easeml.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from easeml.settings import Settings

_PREFIX = "EASEML_"
_IS_OURS = re.compile(_PREFIX).match
_NEARLY = 0.85  # share of letters that two names have in common
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

    Raises InvalidInput for one that does not fit, a variable whose name is misspelt, and a file
    that is no TOML.
    """
    import tomllib

    from pydantic import ValidationError

    from easeml.settings import Settings

    _check_variables(list(Settings.model_fields))
    try:
        return Settings(**given(**flags))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"This file is no TOML: {error}.",
            where="config.toml in the home",
            remedy='Write a setting a line, as name = "text" or name = 5.',
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        unknown = first["type"] == "extra_forbidden"
        raise InvalidInput(
            "There is no such setting." if unknown else f"{first['msg']}.",
            where=".".join(map(str, first["loc"])),
            remedy="Check the flags, the variables EASEML_* and config.toml in the home.",
        ) from error


def _check_variables(names: list[str]) -> None:
    """Raise InvalidInput for a variable that is nearly a setting.

    Without a word the setting would be its default. What is unlike all may be for another program.
    """
    from difflib import get_close_matches

    ours = filter(_IS_OURS, os.environ)
    told = {variable.removeprefix(_PREFIX).lower() for variable in ours}
    for name in told - {*names}:
        for meant in get_close_matches(name, names, n=1, cutoff=_NEARLY):
            raise InvalidInput(
                f"There is no such setting; {_PREFIX}{meant.upper()} is nearly the same.",
                where=_PREFIX + name.upper(),
                remedy="Correct the name of the variable, or remove it.",
            )
