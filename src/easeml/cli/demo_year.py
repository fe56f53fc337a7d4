"""``demo year``: an application lives for a simulated year, on an easeml of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli import year_retire
from easeml.cli.options import Json
from easeml.cli.output import print_told, say, text
from easeml.cli.year_story import LEFT_OUT, QUICK, WHOLE, Step, Year
from easeml.client import Client
from easeml.errors import InvalidInput

app = typer.Typer(no_args_is_help=True, help="What easeml does, shown on made data.")


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    root.add_typer(app, name="demo")


@app.callback()
def group() -> None:
    """Keep ``demo`` a group although it has one command."""


@app.command()
def year(
    home: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the easeml of the demo, which is kept; by default a temporary one."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The first months, with fewer rows.")] = (
        False
    ),
    retire: Annotated[
        bool,
        typer.Option(
            "--retire",
            help="Live a second year in which worn-out test rows become train rows, and compare.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Take an application through a year in minutes: gates, production, drift, an old model again.

    It starts an easeml of its own, on this machine alone. Data is made for it; every number that it
    prints was measured there.
    """
    folder = home or Path(tempfile.mkdtemp(prefix="easeml-year-"))
    began = time.monotonic()
    if quick and retire:
        raise InvalidInput("The first months wear out no test rows.", where="--quick, --retire")
    live = partial(_live, files=folder / "year", quick=quick, retire=retire, quiet=as_json)
    try:
        lived = _on_own_easeml(folder / "home", live)
    finally:
        if home is None:
            shutil.rmtree(folder, ignore_errors=True)
    _print_end(lived, round(time.monotonic() - began, 1), as_json=as_json)


def _live(
    client: Client,
    url: str,
    password: str,
    *,
    files: Path,
    quick: bool,
    retire: bool,
    quiet: bool,
) -> Year:
    """Let an application live on an easeml; ``quick``: with fewer steps and rows.

    ``retire``: then another, whose worn-out test rows learn.
    """
    steps, rows = (QUICK, 400) if quick else (WHOLE, 1200)
    tell = _keep_quiet
    if not quiet:
        say(f"A year of an application; its pages: {url} (admin, password {password}).")
        tell = _tell
    files.mkdir()
    lived = _lived(Year(client, files, rows, tell), steps)
    if retire:
        if not quiet:
            say("\nThe same year once more; its worn-out test rows learn.")
        again = files / "again"
        again.mkdir()
        other = _lived(Year(client, again, rows, tell), year_retire.STEPS)
        year_retire.beside(lived, other)
    return lived


def _lived(year: Year, steps: Sequence[Callable[[Year], None]]) -> Year:
    for step in steps:
        step(year)
    return year


def _print_end(lived: Year, seconds: float, *, as_json: bool) -> None:
    steps = list(map(asdict, lived.steps))
    told = {"steps": steps, "left_out": list(LEFT_OUT), "seconds": seconds}
    print_told(told, partial(_say_end, seconds), as_json=as_json)


def _say_end(seconds: float) -> None:
    say(*map("Not shown: {}".format, LEFT_OUT))
    say(f"A year in {seconds:.0f} s.")


def _on_own_easeml(home: Path, live: Callable[[Client, str, str], Year]) -> Year:
    """Start an easeml, let ``live`` use it, and stop it; raises what ``live`` raised."""
    from easeml.cli.local_home import settings_of
    from easeml.cli.services import PROVIDER
    from easeml.engine import run_supervisor

    _forget_settings()
    settings = settings_of(home=home, port=_free_port(), workers=2, host="127.0.0.1")
    lived: list[Year] = []
    faults: list[Exception] = []

    def on_ready(url: str, password: str | None) -> None:
        secret = password or ""
        try:
            with Client(url) as visitor:
                session = visitor.login(PROVIDER, secret)
            with Client(url, session.secret) as client:
                lived.append(live(client, url, secret))
        except Exception as fault:
            faults.append(fault)
        os.kill(os.getpid(), signal.SIGTERM)

    run_supervisor(settings, on_ready)
    if faults:
        raise faults[0]
    if not lived:
        raise typer.Exit(1)  # stopped by Ctrl-C
    return lived[0]


def _forget_settings() -> None:
    """Take the settings of any other easeml, such as its database, from this process."""
    for name in list(os.environ):
        if name.startswith("EASEML_"):
            del os.environ[name]


def _free_port() -> int:
    """Return a port of this machine that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _tell(step: Step) -> None:
    say(f"\n{step.month}: {step.name} ({step.seconds:.0f} s)")
    say(f"  $ {step.command}")
    say(f"  {step.told}")
    say(f"  {_numbers(step.numbers)}")


def _numbers(numbers: dict[str, Any]) -> str:
    pairs = [f"{name.replace('_', ' ')} {_shown(value)}" for name, value in numbers.items()]
    return "; ".join(pairs)


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(text, value))
    return text(value)


def _keep_quiet(step: Step) -> None:
    """Print nothing: the timeline is printed as JSON at the end."""
