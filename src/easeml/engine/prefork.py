"""The processes of this machine, forked from one that has imported what they need: the libraries are
loaded once, and their memory is shared.
"""

import gc
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from socket import socket
from typing import BinaryIO, Protocol

from easeml.errors import Conflict, EasemlError
from easeml.parents import die_with_parent, name_process
from easeml.settings import Settings
from easeml.store import Store

from .checks import check
from .executors import local
from .fork_server import import_early
from .handover import CHANGED, DRAIN_SECONDS, GO, READY, WAITS, Channel
from .limits import cap_threads
from .listening import are_at, inherited, port_of
from .logs import configure_logging
from .managed_process import (
    LOOK_EVERY,
    ManagedProcess,
    Start,
    keep_running_until,
    log_tail,
    stop_all,
)
from .predictor import run_predictor, run_replica
from .serving import tenant
from .signals import Stop, nobody_waits
from .temporary_files import name_below, remove_those_below, sweep, use_own_folder
from .worker import run_worker

_OF_TASKS = ("scheduler", "worker")
_SCHEDULER = ("scipy.stats", "easeml.engine.scheduler_process")
GRACE = 4.0  # seconds between asking to end and killing; less than the supervisor's

Run = Callable[[Settings], None]


class _Closed(Protocol):
    def close(self) -> None: ...


_Ready = Callable[[], None]


class RunController(Protocol):
    """Answers at sockets, and says when it does."""

    def __call__(
        self, settings: Settings, listeners: Sequence[socket], is_ready: _Ready
    ) -> None: ...


def run_prefork(settings: Settings, run_controller: RunController) -> None:
    """Keep all processes of this machine running until SIGTERM or SIGINT, then stop them; or until
    SIGQUIT, then drain them.

    ``run_controller``: what the controller does. It answers first: what it needs is imported
    already. Where this easeml takes the place of another, it answers once live models are loaded.
    """
    configure_logging("prefork", has_file=True)
    listeners, channel = inherited(), Channel.of_this()
    sweep(settings.home)
    with closing(_Family(settings, listeners, tuple(filter(None, [channel])))) as family:
        if channel is not None:
            _succeed(family, run_controller, channel)
        else:
            family.add_controller(run_controller)
            _add_scheduler(family)
            _add_predictor(family, run_predictor)
        _add_workers(family)
        family.keep_running()


def run_machine(settings: Settings) -> None:
    """Keep the workers of a machine that joined running until SIGTERM or SIGINT, then stop them.

    Where it answers predictions (``serve_at``) it has a predictor, too.
    """
    configure_logging("machine", has_file=True)
    sweep(settings.home)
    with closing(_Family(settings)) as family:
        if settings.serve_at:
            _add_predictor(family, run_replica)
        _add_workers(family)
        family.keep_running()


def _succeed(family: "_Family", run_controller: RunController, channel: Channel) -> None:
    """Take the place of another easeml: start beside it what answers, and say when that is ready.

    Raises what keeps this one from it.
    """
    settings = family.settings
    import_early((*_SCHEDULER, *tenant.IMPORTS, *local.IMPORTS))
    _check_fits(settings, family.listeners)
    _change_database(settings, channel)
    is_ready = get_context("fork").Event()
    _add_predictor(family, partial(run_predictor, is_ready=is_ready.set))
    family.wait_for(is_ready)
    answers = get_context("fork").Event()
    family.add_controller(run_controller, answers.set)
    family.wait_for(answers)
    channel.say(READY)
    channel.close()
    _add_scheduler(family)


def _check_fits(settings: Settings, listeners: Sequence[socket]) -> None:
    """Raise ``EasemlError`` where the settings let nothing start, or name another address."""
    check(settings)
    if not are_at(listeners, settings.host, settings.port):
        running, *_ = listeners[0].getsockname()
        raise Conflict(
            f"The settings name {settings.host}:{settings.port}, "
            f"the running easeml has {running}:{port_of(listeners)}.",
            remedy="Change it by easeml down, then easeml up.",
        )


def _change_database(settings: Settings, channel: Channel) -> None:
    """Bring the database to this easeml's form, if it has another one, when the other has ended."""
    if Store.fits(settings):
        return
    Store.rehearse(settings)  # while the other answers still
    channel.say(WAITS)
    if channel.hear() != GO:
        raise SystemExit(1)  # it did not come to that
    Store.of(settings).close()
    channel.say(CHANGED)


def _add_scheduler(family: "_Family") -> None:
    from .scheduler_process import run_scheduler  # which the controller does not wait for

    import_early(_SCHEDULER)
    family.add("scheduler", run_scheduler)


def _add_predictor(family: "_Family", run: Run) -> None:
    import_early(tenant.IMPORTS)
    family.add("predictor", run)


def _add_workers(family: "_Family") -> None:
    import_early(local.IMPORTS)
    for number in range(1, family.settings.workers + 1):
        family.add("worker", run_worker, number)


class _Family:
    """Processes that are forked from this one, each with what was imported until then."""

    def __init__(
        self,
        settings: Settings,
        listeners: Sequence[socket] = (),
        own: Sequence[_Closed] = (),
    ):
        """``listeners``: sockets for a controller only; ``own``: what no child gets."""
        self.settings = settings
        self.listeners = listeners
        self._own = own
        self._controllers: list[ManagedProcess] = []
        self._stop = Stop.or_drain_on_signals()
        self._processes: list[ManagedProcess] = []

    def add(self, kind: str, run: Run, number: int = 1) -> None:
        """Start a process that does ``run``; its numerical libraries have one thread."""
        not_its = (*self._own, *self.listeners)
        self._add(kind, number, _forked(f"{kind}-{number}", run, self.settings, not_its))

    def add_controller(self, run: RunController, is_ready: _Ready = nobody_waits) -> None:
        """Start a controller, the only process that answers at the listening sockets."""
        at_sockets = partial(run, listeners=self.listeners, is_ready=is_ready)
        start = _forked("controller-1", at_sockets, self.settings, self._own)
        self._controllers.append(self._add("controller", 1, start))

    def _add(self, kind: str, number: int, start: Start) -> ManagedProcess:
        process = ManagedProcess(kind, number, self.settings.home, start)
        self._processes.append(process)
        if not self._stop.asked:
            process.keep_running()
        return process

    def wait_for(self, is_ready: Event) -> None:
        """Wait until the process added last is ready, or this one is asked to stop.

        Raises ``EasemlError`` if it ends before.
        """
        newest = self._processes[-1]
        while not (is_ready.wait(LOOK_EVERY) or self._stop.asked):
            if newest.pid is None:
                raise EasemlError(f"The {newest.kind} ended.\n{log_tail(newest.log)}")

    def keep_running(self) -> None:
        """Start again what ends, until this process is asked to stop."""
        keep_running_until(self._stop, self._processes)

    def close(self) -> None:
        """Stop all; where this process drains, the controller has its time, and what it asks."""
        if self._stop.drains:
            self._drain()
        stop_all(self._processes, GRACE)
        remove_those_below(self.settings.home, os.getpid())

    def _drain(self) -> None:
        """End the controller once it has answered, those that run tasks at once: the next ones are
        there, and a machine would have twice as many tasks as it may.
        """
        for one in self._controllers:
            one.drain()
        stop_all([one for one in self._processes if one.kind in _OF_TASKS], GRACE)
        for one in self._controllers:
            one.end(DRAIN_SECONDS + GRACE)


class Forked:
    """A forked process with the methods of ``subprocess.Popen`` that ``ManagedProcess`` uses."""

    def __init__(self, process: BaseProcess):
        self._process = process
        self.pid = process.pid or 0

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return code

    def send_signal(self, sig: int, /) -> None:
        if self._process.is_alive():
            os.kill(self.pid, sig)


def _forked(name: str, run: Run, settings: Settings, not_its: Sequence[_Closed]) -> Start:
    """Return what forks this process, closes what is not the child's, and calls ``run`` there.

    This process must have one thread.
    """

    def start(output: BinaryIO) -> Forked:
        gc.freeze()  # collecting garbage in a child does not copy these pages
        arguments = (name, run, settings, not_its, output.fileno())
        process = get_context("fork").Process(target=_child, args=arguments)
        process.start()
        return Forked(process)

    return start


def _child(
    name: str,
    run: Run,
    settings: Settings,
    not_its: Sequence[_Closed],
    output: int,
) -> None:
    os.setsid()  # Ctrl-C reaches the supervisor only
    die_with_parent()
    name_process(name)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for one in not_its:
        one.close()
    use_own_folder(settings.home, name_below(os.getppid(), name))
    cap_threads(1)  # a task takes more where it has work for them
    run(settings)
