"""The predictor and the workers of this machine, forked from one process that has imported what
they need: the libraries are loaded once, and their memory is shared.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from typing import BinaryIO

from easeml.settings import Settings

from .executors import local
from .fork_server import import_early
from .limits import die_with_parent
from .managed_process import ManagedProcess, Start, keep_running_until, stop_all
from .predictor import run_predictor, run_replica
from .serving import tenant
from .signals import Stop
from .temporary_files import use_own_folder
from .worker import run_worker

GRACE = 4.0  # seconds between asking to end and killing; less than the supervisor's

Run = Callable[[Settings], None]


def run_prefork(settings: Settings) -> None:
    """Keep the predictor and the workers running until SIGTERM or SIGINT, then stop them."""
    import_early(tenant.IMPORTS)
    start = _forked("predictor-1", run_predictor, settings)
    _run(settings, [ManagedProcess("predictor", 1, settings.home, start)])


def run_machine(settings: Settings) -> None:
    """Keep the workers of a machine that joined running until SIGTERM or SIGINT, then stop them.

    Where it answers predictions (``serve_at``) it has a predictor, too.
    """
    if not settings.serve_at:
        _run(settings, [])
        return
    import_early(tenant.IMPORTS)
    start = _forked("predictor-1", run_replica, settings)
    _run(settings, [ManagedProcess("predictor", 1, settings.home, start)])


def _run(settings: Settings, processes: list[ManagedProcess]) -> None:
    """Keep ``processes`` and the workers running until they are to stop."""
    stop = Stop.on_signals()
    import_early(local.IMPORTS)
    for number in range(1, settings.workers + 1):
        start = _forked(f"worker-{number}", run_worker, settings)
        processes.append(ManagedProcess("worker", number, settings.home, start))
    try:
        keep_running_until(stop, processes)
    finally:
        stop_all(processes, GRACE)


class _Forked:
    """A forked process with the methods of ``subprocess.Popen`` that ``ManagedProcess`` uses."""

    def __init__(self, process: ForkProcess):
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


def _forked(name: str, run: Run, settings: Settings) -> Start:
    """Return what forks this process and calls ``run`` there. This process must have one thread."""

    def start(output: BinaryIO) -> _Forked:
        arguments = (name, run, settings, output.fileno())
        process = get_context("fork").Process(target=_child, args=arguments)
        process.start()
        return _Forked(process)

    return start


def _child(name: str, run: Run, settings: Settings, output: int) -> None:
    os.setsid()  # Ctrl-C reaches the supervisor only
    die_with_parent()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(output, 1)
    os.dup2(output, 2)
    use_own_folder(settings.home, name)
    run(settings)
