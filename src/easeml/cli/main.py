"""The root command, and how errors leave the program."""

import gc
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from easeml.errors import (
    EasemlError,
    InvalidInput,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TimedOut,
    TooLarge,
    Unreachable,
    VersionsDiffer,
)
from easeml.version import __version__

_COMMANDS: dict[str, str] = {  # command: the module that registers it; in the order of ``--help``
    "up": "services",
    "process": "services",
    "demo": "demo_year",
    "demo-tenants": "services",
    "login": "accounts",
    "predict": "predicting",
    "forecast": "forecasting",
    "status": "tasks",
    "down": "services",
    "upgrade": "services",
    "backup": "backup",
    "restore": "backup",
    "rotate-secret": "secrets",
    "doctor": "doctor",
    "gc": "retention",
    "config": "config",
    "feasibility": "tools",
    "tool": "tools",
    "pick": "picking",
    "key": "accounts",
    "user": "accounts",
    "notify": "notify",
    "task": "tasks",
    "job": "tasks",
    "decisions": "decisions",
    "worker": "devices",
    "device": "devices",
    "module": "modules",
    "app": "applications",
    "model": "model",
    "mcp": "mcp",
    "gang": "gang",
    "work": "answering",
    "schema": "schema",
    "data": "data",
    "schedule": "schedules",
    "clean": "clean",
    "label": "label",
    "flow": "flow",
    "ci": "ci",
    "meter": "meter",
    "monitor": "monitor",
    "simulate": "simulate",
}
_GARBAGE_OBJECTS = 50_000
"""New objects before garbage is looked for: by Python's default it is looked for all the time while
libraries are imported, a tenth of every start.
"""
_python_shows = warnings.showwarning
_EXIT_CODES: list[tuple[type[EasemlError], int]] = [
    (InvalidInput, 2),
    (NotFound, 2),
    (TooLarge, 2),
    (TimedOut, 3),
    (NotSignedIn, 4),
    (NotAllowed, 4),
    (Unreachable, 5),
]


def exit_code(error: EasemlError) -> int:
    """Return the program's exit code for an error: 1 unless it has one of its own."""
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), 1)


def _show_warning(message: Warning | str, category: type[Warning], *place: Any) -> None:
    """Show a warning as Python does; that versions differ, as a sentence without a place."""
    if not issubclass(category, VersionsDiffer):
        _python_shows(message, category, *place)
        return
    from easeml.cli.output import say_aside

    say_aside(str(message))


class _Root(TyperGroup):
    """Shows errors of easeml as messages and turns them into exit codes."""

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except EasemlError as error:
                from easeml.cli.output import print_error

                print_error(error)
                raise typer.Exit(exit_code(error)) from error


class _Commands(Mapping[str, Any]):
    """The commands by name; the module of one is imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        return _commands_of(_COMMANDS[name])[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class _Command(TyperCommand):
    """Refuses an option that takes one value and has several, of which the last would count."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        counts = Counter(filter(_takes_one_value, given))
        for option, times in counts.items():
            if times > 1:
                raise InvalidInput(
                    f"{option.opts[0]} takes one value, and has {times}.",
                    remedy="Name one of them.",
                )
        return super().parse_args(ctx, args)


def _takes_one_value(parameter: Any) -> bool:
    several = "multiple", "is_flag", "count"
    return isinstance(parameter, TyperOption) and not any(map(vars(parameter).get, several))


def _take_options_once(app: typer.Typer) -> None:
    """Let the commands of ``app`` and of its groups be ``_Command``."""
    for command in app.registered_commands:
        command.cls = _Command
    for group in app.registered_groups:
        assert group.typer_instance is not None, group.name
        _take_options_once(group.typer_instance)


@cache
def _commands_of(module: str) -> Mapping[str, Any]:
    """Return the commands that a module of this room registers."""
    own = typer.Typer()
    import_module(f"easeml.cli.{module}").register(own)
    _take_options_once(own)
    return typer.main.get_group(own).commands


class _Program(_Root):
    """The root of the whole program."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": _Commands()})


app = typer.Typer(
    cls=_Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="From a table to a served model. Exit codes: 0 yes, 1 no, 2 wrong use or invalid input, "
    "3 timed out, 4 not allowed, 5 service unreachable, 6 cannot tell.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    """Take the options that stand before any command."""


def main() -> None:
    """Run the command line on the program's arguments; ends the program."""
    gc.set_threshold(_GARBAGE_OBJECTS)
    try:
        app()
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        sys.exit(1)
    finally:
        gc.freeze()  # looking for garbage in all that was imported takes a fifth of a command
