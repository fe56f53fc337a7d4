"""The supervisor (``easeml up``): starts every process on this machine and restarts what dies."""

import fcntl
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from easeml.errors import Conflict, NotAllowed, NotFound, TimedOut
from easeml.service.accounts import first_start, users
from easeml.settings import Settings
from easeml.store import Store
from easeml.version import __version__

from . import internal_secret
from .checks import check, check_database
from .handover import Answer, Handed, answer, ask, only_one, take, wait_for_answer
from .limits import parent_environment
from .listening import as_environment, listen, of_descriptors
from .managed_process import (
    LOOK_EVERY,
    Adopted,
    ManagedProcess,
    log_tail,
    program,
    stop_all,
)
from .signals import Stop
from .stuck import watch_beside
from .succession import Succession

_LOCK = "supervisor.lock"
_HEALTHY_WITHIN = 120.0  # seconds
_PORT_FREE_WITHIN = 3.0  # seconds: processes of a supervisor that was killed may just be ending
_GRACE = 5.0  # seconds between asking to end and killing

OnReady = Callable[[str, str | None], None]


def run_supervisor(settings: Settings, on_ready: OnReady) -> None:
    """Run easeml on this machine until SIGINT or SIGTERM, then stop it cleanly.

    ``on_ready(url, first_password)`` is called once, in a thread of its own, when the service
    answers; the password is given on the first start of a home only, and not where it was made
    beforehand (``first_secrets``). Raises ``Conflict`` if the home is in use, the port is taken,
    tasks cannot be isolated as demanded or the database was lost, ``InvalidInput`` if there is no
    such executor, an address of the settings is none or a first secret cannot be one,
    ``Unreachable`` if the executor's cluster does not answer, and ``TimedOut`` if the controller
    does not answer.
    """
    settings = settings.model_copy(update={"home": settings.home.resolve()})
    settings.home.mkdir(
        parents=True,
        exist_ok=True,
        mode=0o700,
    )
    check(settings)
    handed = Handed.of_this()
    with _only_one(settings.home, handed) as lock:
        stop = Stop.on_signals()
        internal_secret.make(settings.home)
        if not handed:
            take(settings.home)  # asked of one that has ended
        listeners = of_descriptors(handed.listeners) if handed else _listen(settings)
        with closing(Store.of(settings)) as store:
            check_database(store)
            if settings.first_secrets:
                # Before anything answers: machines that wait for it have the key already.
                first_start.make_provider(store, Path(settings.first_secrets))
            processes = _processes(settings, listeners)
            if handed:
                processes[0].adopt(Adopted(handed.prefork))
            watch_beside(store, settings.lease_seconds, processes)
            succession = Succession(settings, lock, listeners, processes, stop)
            try:
                _run(
                    settings, store, processes, _told(on_ready, settings, handed), stop, succession
                )
            finally:
                stop_all(processes, _GRACE)


def _told(on_ready: OnReady, settings: Settings, handed: Handed | None) -> OnReady:
    """Return ``on_ready``, which also tells who asked for an upgrade that it is over."""

    def tell(url: str, password: str | None) -> None:
        if handed:
            answer(settings.home, Answer(handed.request, version=__version__))
        on_ready(url, password)

    return tell


def _processes(settings: Settings, listeners: Sequence[socket.socket]) -> list[ManagedProcess]:
    """Return the processes that start all others: first ``prefork``, those of this machine."""
    single = parent_environment()
    prefork = program("prefork", settings, {**single, **as_environment(listeners)}, listeners)
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
    settings: Settings,
    store: Store,
    processes: list[ManagedProcess],
    on_ready: OnReady,
    stop: Stop,
    succession: Succession,
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
        if healthy:
            succession.look()
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


def upgrade_supervisor(home: Path, seconds: float) -> tuple[str, int]:
    """Have this easeml take the place of the one that runs on a home; return the version that runs
    now, and the id of its process.

    Raises ``NotFound`` where none runs, ``NotAllowed`` where it is somebody else's, ``Conflict``
    where the one that runs cannot give way or this one does not start, ``TimedOut`` after
    ``seconds``.
    """
    _check_own(home)
    pid = running_supervisor(home)
    if pid is None:
        raise NotFound(
            "easeml does not run on this home.", where=str(home), remedy="Start it: easeml up."
        )
    with only_one(home):
        is_there = lambda: running_supervisor(home) == pid  # noqa: E731
        found = wait_for_answer(home, ask(home), seconds, is_there)
    if found is None:
        raise Conflict(
            f"The easeml that runs (process {pid}) takes no request for an upgrade.",
            where=str(home),
            remedy="It is just starting, or being upgraded, or knows no upgrades yet. "
            "Try again, or: easeml down, then easeml up.",
        )
    if found.error:
        raise Conflict(
            f"The easeml that ran goes on. {found.error}",
            where=str(home),
            remedy=f"See {home / 'logs'}.",
        )
    return found.version, pid


def _check_own(home: Path) -> None:
    """Raise ``NotAllowed`` where the easeml of a home is another user's, who could not read what is
    asked.
    """
    with suppress(FileNotFoundError):
        try:
            owner = (home / _LOCK).stat().st_uid
        except PermissionError:
            owner = None
        if owner != os.geteuid():
            raise NotAllowed(
                "The easeml of this home belongs to another user.",
                where=str(home),
                remedy="Upgrade it as the one who started it.",
            )


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
def _only_one(home: Path, handed: Handed | None = None) -> Iterator[int]:
    """Hold the lock of the home, and give its open file; the kernel gives the lock back when this
    process ends in whatever way.

    ``handed``: has the lock, where another easeml ran in this process.
    """
    lock = handed.lock if handed else os.open(home / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    with os.fdopen(lock, "r+") as file:
        os.set_inheritable(lock, False)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                f"easeml runs already on this home (process {file.read().strip() or 'unknown'}).",
                where=str(home),
                remedy="Use that one, stop it, or choose another folder with --home.",
            ) from None
        os.pwrite(lock, f"{os.getpid():<20}".encode(), 0)  # at once, for those who read it
        yield lock


def _listen(settings: Settings) -> list[socket.socket]:
    latest = time.monotonic() + _PORT_FREE_WITHIN
    while True:
        try:
            return listen(settings.host, settings.port)
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
    if ":" in host:
        return f"http://[{host}]:{settings.port}"
    return f"http://{host}:{settings.port}"


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=1) as reply:  # noqa: S310
            return reply.status == 200
    except urllib.error.HTTPError:
        return True  # it answers, and says itself what is wrong
    except OSError:
        return False
