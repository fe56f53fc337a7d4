"""``up``, and the hidden commands that it starts."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from easeml.cli.local_home import HomeOption, local_settings, settings_of
from easeml.cli.output import say

PROVIDER = "admin"  # name of the user that the first start makes
_KINDS = ("controller", "scheduler", "prefork", "machine", "worker", "predictor")
_STOP_SECONDS = 5.0
_HEALTH_SECONDS = 10.0

Port = Annotated[int | None, typer.Option(min=0, max=65535, help="Port of the service (8080).")]
Workers = Annotated[int | None, typer.Option(min=1, help="Worker processes (2).")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.command()(up)
    app.command()(down)
    app.command()(upgrade)
    app.command(hidden=True)(process)
    app.command("demo-tenants", hidden=True)(demo_tenants)


def up(
    home: HomeOption = None,
    port: Port = None,
    workers: Workers = None,
    isolation: Annotated[
        str | None,
        typer.Option(
            metavar="[none|process|user|sandbox]",
            help="What tasks and serving children are confined to.",
        ),
    ] = None,
    cluster: Annotated[
        int | None,
        typer.Option(
            min=0, help="Simulate this many further machines here, each with its workers (0)."
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Play three tenants with real tables.")
    ] = False,
) -> None:
    """Start everything on this machine and keep it running; Ctrl-C stops it."""
    from easeml.engine import run_supervisor

    settings = settings_of(
        home=home, port=port, workers=workers, isolation=isolation, machines=cluster
    )
    _make_home(settings.home)
    players: list[subprocess.Popen[bytes]] = []

    def on_ready(url: str, password: str | None) -> None:
        _greet(url, password, _first_key(url, password) if password else "")
        _warn(_problems_of(url))
        if demo:
            players.append(_start_demo(url, settings.home, password))

    try:
        run_supervisor(settings, on_ready)
    finally:
        for player in players:
            _stop(player)


def down(
    home: HomeOption = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait for its end.")] = 60.0,
) -> None:
    """Stop the easeml that `up` started on a home of this machine, and wait until it has ended."""
    from easeml.engine import stop_supervisor

    settings = local_settings(home)
    pid = stop_supervisor(settings.home, timeout)
    say(f"easeml has ended (process {pid}).")


def upgrade(
    home: HomeOption = None,
    timeout: Annotated[
        float, typer.Option(min=0, help="Seconds to wait until the other has ended.")
    ] = 900.0,
) -> None:
    """Let this easeml take the place of the one that runs on a home of this machine.

    All requests are answered meanwhile. Where this one does not start, the other goes on.
    """
    from easeml.engine import upgrade_supervisor

    settings = local_settings(home)
    began = time.monotonic()
    version, pid = upgrade_supervisor(settings.home, timeout)
    seconds = time.monotonic() - began
    say(f"easeml {version} runs (process {pid}); this took {seconds:.1f} s.")


def process(
    kind: Annotated[str, typer.Argument(help=", ".join(_KINDS))],
    home: HomeOption = None,
    port: Port = None,
    workers: Workers = None,
) -> None:
    """Run one process of the service; ``up`` starts these."""
    if kind not in _KINDS:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(_KINDS)}", param_hint="KIND")
    settings = settings_of(home=home, port=port, workers=workers)
    from easeml import engine

    if kind in ("controller", "prefork"):
        from easeml.api.controller import run_controller

        if kind == "controller":
            run_controller(settings)
        else:
            engine.run_prefork(settings, run_controller)
        return
    {
        "scheduler": engine.run_scheduler,
        "machine": engine.run_machine,
        "worker": engine.run_worker,
        "predictor": engine.run_predictor,
    }[kind](settings)


def demo_tenants(
    url: Annotated[str, typer.Option(help="Address of the service.")],
    home: Annotated[Path, typer.Option(help="Folder of the demo's files.")],
    since: Annotated[
        float | None, typer.Option(help="When the service was up, seconds of the epoch.")
    ] = None,
) -> None:
    """Play three tenants against a running service."""
    from easeml.cli.demo_tenants import run_demo

    run_demo(url, home, since=time.time() if since is None else since)


def _make_home(home: Path) -> None:
    """Make the folder of all state. Raises InvalidInput where it cannot be made."""
    from easeml.errors import InvalidInput

    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InvalidInput(
            f"The home cannot be made: {error.strerror}.",
            where=str(home),
            remedy="Choose a folder with --home.",
        ) from error


def _greet(url: str, password: str | None, key: str) -> None:
    """Say where the service is, and once, at the very first start, who may sign in."""
    if password is not None:
        say(f"First start. Open {url} in a browser and sign in; the password is shown only now:")
        say(f"  name: {PROVIDER}  password: {password}")
        say("For commands and scripts, in another terminal (a key of yours, shown only now):")
        say(f"  export EASEML_URL={url} EASEML_API_KEY={key}")
    else:
        command = f"easeml login {PROVIDER} --url {url}"
        say(f"Open {url} in a browser, or sign in from another terminal: {command}")
    say(f"easeml is up at {url}; Ctrl-C stops it.")


def _problems_of(url: str) -> list[str]:
    """Return what the service says is wrong with it; it may be up and not be able to work."""
    import httpx

    try:
        return httpx.get(f"{url}/healthz", timeout=_HEALTH_SECONDS).json().get("problems", [])
    except (httpx.HTTPError, ValueError):
        return []  # it was up a moment ago, and whoever asks next is told


def _warn(problems: list[str]) -> None:
    """Say what is wrong, beside that it is up."""
    for problem in problems:
        say(f"It cannot do all its work. {problem}")


def _first_key(url: str, password: str) -> str:
    """Return a fresh API key of the provider that does not expire.

    ``easeml key list`` shows it by its name.
    """
    from easeml.client import Client

    with Client(url) as visitor:
        session = visitor.login(PROVIDER, password)
    with Client(url, session.secret) as client:
        return client.create_key("first start").secret or ""


def _start_demo(url: str, home: Path, password: str | None) -> subprocess.Popen[bytes]:
    """Start the demo beside the service.

    The provider's password reaches it in its own file, not by argument.
    """
    from easeml.cli.demo_state import DemoState

    if password is not None:
        state = DemoState.load(home)
        state.provider = {"name": PROVIDER, "password": password}
        state.save()
    return subprocess.Popen(
        [
            sys.executable,
            "-P",  # nothing is imported from the folder in which easeml was started
            "-m",
            "easeml.cli",
            "demo-tenants",
            "--url",
            url,
            "--home",
            str(home),
            "--since",
            str(time.time()),
        ]
    )


def _stop(player: subprocess.Popen[bytes]) -> None:
    player.terminate()
    try:
        player.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        player.kill()
        player.wait()
