"""``worker``: this machine works for an easeml elsewhere. ``device``: what works for it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from easeml.cli.local_home import settings_of
from easeml.cli.options import Json
from easeml.cli.output import print_done, print_list, say
from easeml.client import Client
from easeml.contract.devices import DeviceGpu, Joined, WorkerDevice
from easeml.errors import InvalidInput, Unreachable

_GIB = 2**30
_PATIENCE, _PAUSE = 60.0, 1.0  # seconds for a service that does not answer

device = typer.Typer(no_args_is_help=True, help="What works for this easeml (providers only).")

DeviceId = Annotated[str, typer.Argument(metavar="DEVICE", help="Id of a device.")]


def register(app: typer.Typer) -> None:
    """Add ``worker`` and ``device`` to the root."""
    app.command("worker")(work_for)
    app.add_typer(device, name="device")


def work_for(
    join: Annotated[str, typer.Option(metavar="URL", help="Address of the easeml to work for.")],
    token: Annotated[
        str, typer.Option(envvar="EASEML_API_KEY", help="API key of one of its providers.")
    ] = "",
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with that key, in place of --token.")
    ] = None,
    devices: Annotated[int, typer.Option(min=1, help="Tasks at once.")] = 1,
    kind: Annotated[
        str, typer.Option(help="Kind of its devices, such as their processor; empty: the usual.")
    ] = "",
    domain: Annotated[
        str,
        typer.Option(
            help="What fails together with this machine, such as its rack; empty: it alone."
        ),
    ] = "",
    serve_at: Annotated[
        str,
        typer.Option(
            "--serve",
            metavar="HOST[:PORT]",
            help="Answer predictions as well, at this address of the machine; empty: run tasks only.",
        ),
    ] = "",
    home: Annotated[Path, typer.Option(help="Folder for what the workers fetch and write.")] = Path(
        ".easeml-worker"
    ),
) -> None:
    """Work for an easeml on another machine, until Ctrl-C.

    Its database and its artefacts have to be within reach. Tasks that run when it ends are done
    again elsewhere.
    """
    from easeml.confinement import check_available
    from easeml.engine import run_machine
    from easeml.engine.executors import check_executor
    from easeml.engine.membership import this_host
    from easeml.engine.serving.doors import listener_at
    from easeml.store.bucket import require_library
    from easeml.version import __version__

    key = _key(token, token_file)
    asked = {"device_kind": kind, "fault_domain": domain, "serve_at": serve_at}
    with Client(join, key) as client:

        def ask() -> Joined:
            return client.join_machine(version=__version__, host=this_host())

        told = answered(ask, _PATIENCE, _PAUSE)
    own = {name: value for name, value in asked.items() if value}
    settings = settings_of(home=home, workers=devices, **told.model_dump(), **own)
    if settings.artefacts_url:
        require_library()  # here, as each worker would fail for ever
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_available(settings.home, settings.isolation)  # what that easeml demands
    check_executor(settings.executor)
    if settings.serve_at:
        listener_at(settings.serve_at).close()
    say(f"Working for {join} with {devices} at once; Ctrl-C leaves.")
    run_machine(settings)


def _key(token: str, token_file: Path | None) -> str:
    """Return the key that was given, the file's before others. Raises ``InvalidInput``."""
    key = token
    if token_file is not None:
        try:
            key = token_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise InvalidInput(
                f"The key cannot be read: {reason}.", where=str(token_file)
            ) from error
    if not key:
        raise InvalidInput(
            "A machine that joins needs a key of a provider.",
            remedy="Give it with --token-file, --token or EASEML_API_KEY.",
        )
    return key


def answered(ask: Callable[[], Joined], patience: float, pause: float) -> Joined:
    """Ask until the service answers: it may be starting again while a machine returns.

    Every ``pause`` seconds. Raises ``Unreachable`` after ``patience`` seconds.
    """
    latest = time.monotonic() + patience
    while True:
        try:
            return ask()
        except Unreachable:
            if time.monotonic() >= latest:
                raise
            time.sleep(pause)


@device.command("list")
def list_devices(as_json: Json = False) -> None:
    """List the devices, and what they run."""
    with Client() as client:
        found = list(client.devices())
    columns = {
        "device": "id",
        "machine": "machine",
        "kind": _kind,
        "domain": "domain",
        "state": "state",
        "tasks": _tasks,
        "memory": lambda one: _room(one.offers.memory, one.promised.memory),
        "disk": lambda one: _room(one.offers.disk, one.promised.disk),
        "threads": "threads",
        "GPUs": _gpus,
        "temperature": _temperature,
        "heard of": _heard,
    }
    print_list(found, columns, as_json=as_json)


def _kind(one: WorkerDevice) -> str:
    return f"{one.kind} ({one.pace:.2g} x)" if one.kind else "usual"


def _tasks(one: WorkerDevice) -> str:
    return ", ".join(f"{task.kind} for {task.tenant}" for task in one.tasks)


def _room(offered: int | None, promised: int | None) -> str:
    """Return what tasks may still have of a machine, of what it offers."""
    if offered is None:
        return "unknown"
    free = max(0, offered - (promised or 0))
    return f"{free / _GIB:.1f} of {offered / _GIB:.1f} GiB free"


def _temperature(one: WorkerDevice) -> str:
    return "unknown" if one.temperature is None else f"{one.temperature:.0f} °C"


def _heard(one: WorkerDevice) -> str:
    return f"{max(0.0, time.time() - one.heard):.0f} s ago"


def _gpus(one: WorkerDevice) -> str:
    return ", ".join(map(_gpu, one.gpus))


def _gpu(one: DeviceGpu) -> str:
    free, memory, used = one.free / _GIB, one.memory / _GIB, one.used / _GIB
    return f"{one.name}: {free:.1f} of {memory:.1f} GiB free, {used:.1f} used"


@device.command("drain")
def drain(device_id: DeviceId, as_json: Json = False) -> None:
    """Let a device finish what it runs and take nothing new; then it may be switched off."""
    _change(device_id, draining=True, as_json=as_json)


@device.command("resume")
def resume(device_id: DeviceId, as_json: Json = False) -> None:
    """Let a drained device take tasks again."""
    _change(device_id, draining=False, as_json=as_json)


def _change(device_id: str, *, draining: bool, as_json: bool) -> None:
    with Client() as client:
        found = client.drain_device(device_id, draining=draining)
    print_done(found, f"{found.id} is {found.state.value}.", as_json=as_json)
