"""The supervisor (``easeml up``): starts every process on this machine and restarts what dies."""

import fcntl
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from easeml.confinement import check_available
from easeml.errors import Conflict, NotAllowed, NotFound, TimedOut
from easeml.service.accounts import first_start, users
from easeml.settings import Settings
from easeml.store import Store

from . import internal_secret
from .limits import memory_environment, thread_environment
from .managed_process import LOOK_EVERY, ManagedProcess, log_tail, program, stop_all
from .messages.collector import collector_of
from .messages.mail import mail_of
from .networks import networks_of
from .signals import Stop
from .stuck import watch_beside

_LOCK = "supervisor.lock"
_HEALTHY_WITHIN = 120.0  # seconds
_PORT_FREE_WITHIN = 3.0  # seconds: processes of a supervisor that was killed may just be ending
_GRACE = 5.0  # seconds between asking to end and killing

OnReady = Callable[[str, str | None], None]


def run_supervisor(settings: Settings, on_ready: OnReady) -> None:
    """Run easeml on this machine until SIGINT or SIGTERM, then stop it cleanly.

    ``on_ready(url, first_password)`` is called once, in a thread of its own, when the service
    answers; the password is given on the first start of a home only, and not where it was made
    beforehand (``first_secrets``). Raises ``Conflict`` if the home is in use, the port is taken or
    tasks cannot be isolated as demanded, ``InvalidInput`` if there is no such executor, an address
    of the settings is none or a first secret cannot be one, ``Unreachable`` if the executor's
    cluster does not answer, and ``TimedOut`` if the controller does not answer.
    """
    settings = settings.model_copy(update={"home": settings.home.resolve()})
    settings.home.mkdir(
        parents=True,
        exist_ok=True,
        mode=0o700,
    )
    check_available(settings.home, settings.isolation)
    _check_addresses(settings)
    if settings.executor != "local":
        # Executors import what tasks need, for which a supervisor does not wait otherwise.
        from .executors import check_executor

        check_executor(settings.executor)
    with _only_one(settings.home):
        stop = Stop.on_signals()
        internal_secret.make(settings.home)
        _wait_for_port(settings)
        with closing(Store.of(settings)) as store:
            if settings.first_secrets:
                # Before anything answers: machines that wait for it have the key already.
                first_start.make_provider(store, Path(settings.first_secrets))
            processes = _processes(settings)
            watch_beside(store, settings.lease_seconds, processes)
            try:
                _run(settings, store, processes, on_ready, stop)
            finally:
                stop_all(processes, _GRACE)


def _check_addresses(settings: Settings) -> None:
    """Raise ``InvalidInput`` for settings that a process could not start with."""
    networks_of(settings.trusted_proxies)
    mail_of(settings)
    collector_of(settings)
    if settings.openid_issuer:
        from easeml.openid import provider_of  # which takes time, and most have none

        provider_of(settings)


def _processes(settings: Settings) -> list[ManagedProcess]:
    """Return the processes that start all others: ``prefork`` those of this machine."""
    # One numerical thread each, but for tasks: where training keeps all cores busy, more would
    # spin for each other.
    single = {**thread_environment(1), **memory_environment(), **os.environ}
    prefork = program("prefork", settings, single)
    processes = [ManagedProcess("prefork", 1, settings.home, prefork)]
    for number in range(1, settings.machines + 1):
        start = program("machine", _of_machine(settings, number), single)
        processes.append(ManagedProcess("machine", number, settings.home, start))
    return processes


def _of_machine(settings: Settings, number: int) -> Settings:
    """Return the settings of a machine that is played here: it shares no folder but the store."""
    own = {
        "home": settings.home / "machines" / str(number),
        "database_url": settings.database,
        "artefacts_url": settings.shared_artefacts,
        "serve_at": "127.0.0.1",
    }
    return settings.model_copy(update=own)


def _run(
    settings: Settings, store: Store, processes: list[ManagedProcess], on_ready: OnReady, stop: Stop
) -> None:
    url = _local_url(settings)
    latest = time.monotonic() + _HEALTHY_WITHIN
    healthy = False
    while not stop.asked:
        for process in processes:
            process.keep_running()
        if not healthy and (healthy := _answers(url)):
            first = users.create_first_provider(store)
            arguments = (url, first[1] if first else None)
            threading.Thread(
                target=on_ready,
                args=arguments,
                name="on-ready",
                daemon=True,
            ).start()
        if not healthy and time.monotonic() > latest:
            raise no_answer(settings.home, url)
        time.sleep(LOOK_EVERY)


def no_answer(home: Path, url: str) -> TimedOut:
    """Return that the controller does not answer, with what its log says last.

    Where it has said nothing, the process that forks it may not have come so far.
    """
    logs = home / "logs"
    own, parents = logs / "controller-1.log", logs / "prefork-1.log"
    log = own if log_tail(own) else parents
    return TimedOut(
        f"The controller did not answer within {_HEALTHY_WITHIN:g} s.\n{log_tail(log)}",
        where=url,
        remedy=f"See {log}.",
    )


def stop_supervisor(home: Path, seconds: float) -> int:
    """Ask the supervisor of a home to end, wait at most ``seconds`` for it, and return its id.

    Raises ``NotFound`` where none runs, ``NotAllowed`` where it is somebody else's, ``TimedOut``.
    """
    latest = time.monotonic() + seconds
    pid = running_supervisor(home)
    if pid is None:
        raise NotFound("easeml does not run on this home.", where=str(home))
    try:
        os.kill(pid, signal.SIGTERM)
    except PermissionError as error:
        raise NotAllowed(
            f"Process {pid} belongs to another user.", remedy="Stop it as the one who started it."
        ) from error
    except ProcessLookupError:
        return pid  # it ended in this moment
    while running_supervisor(home) == pid:
        if time.monotonic() > latest:
            raise TimedOut(f"Process {pid} still runs after {seconds:g} s.", where=str(home))
        time.sleep(LOOK_EVERY)
    return pid


def running_supervisor(home: Path) -> int | None:
    """Return the process id of the supervisor that runs on a home, None where none does."""
    lock = home / _LOCK
    if not lock.exists():
        return None
    with lock.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            held_by = file.read().strip()
            return int(held_by) if held_by else None
    return None


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Hold the lock of the home; the kernel gives it back when this process ends in whatever way."""
    with (home / _LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise Conflict(
                f"easeml runs already on this home (process {file.read().strip() or 'unknown'}).",
                where=str(home),
                remedy="Use that one, stop it, or choose another folder with --home.",
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _wait_for_port(settings: Settings) -> None:
    latest = time.monotonic() + _PORT_FREE_WITHIN
    while True:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                settings.host, settings.port, type=socket.SOCK_STREAM
            )[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
                return
        except OSError as error:
            if time.monotonic() > latest:
                where = f"{settings.host}:{settings.port}"
                text = f"The address cannot be used: {error.strerror or error}."
                raise Conflict(
                    text,
                    where=where,
                    remedy="Choose another one with --port.",
                ) from error
            time.sleep(LOOK_EVERY)


def _local_url(settings: Settings) -> str:
    anywhere = settings.host in ("0.0.0.0", "::", "")  # noqa: S104
    host = "127.0.0.1" if anywhere else settings.host
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=1) as reply:  # noqa: S310
            return reply.status == 200
    except urllib.error.HTTPError:
        return True  # it answers, and says itself what is wrong
    except OSError:
        return False
