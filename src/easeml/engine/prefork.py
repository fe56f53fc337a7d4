"""The processes of this machine, forked from one that has imported what they need: the libraries are
loaded once, and their memory is shared.
"""

import gc
import os
import signal
import subprocess
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import BinaryIO

from easeml.parents import die_with_parent, name_process
from easeml.settings import Settings

from .executors import local
from .fork_server import import_early
from .limits import cap_threads, task_limits
from .managed_process import ManagedProcess, Start, keep_running_until, stop_all
from .predictor import run_predictor, run_replica
from .serving import tenant
from .signals import Stop
from .temporary_files import use_own_folder
from .worker import run_worker

GRACE = 4.0  # seconds between asking to end and killing; less than the supervisor's

Run = Callable[[Settings], None]


def run_prefork(settings: Settings, run_controller: Run) -> None:
    """Keep all processes of this machine running until SIGTERM or SIGINT, then stop them.

    ``run_controller``: what the controller does. It answers first: what it needs is imported already.
    """
    family = _Family(settings)
    family.add("controller", run_controller, threads=1)
    from .scheduler_process import IMPORTS, run_scheduler  # which the controller does not wait for

    import_early(IMPORTS)
    family.add("scheduler", run_scheduler, threads=1)
    _run(family, run_predictor)


def run_machine(settings: Settings) -> None:
    """Keep the workers of a machine that joined running until SIGTERM or SIGINT, then stop them.

    Where it answers predictions (``serve_at``) it has a predictor, too.
    """
    _run(_Family(settings), run_replica if settings.serve_at else None)


def _run(family: "_Family", run_predictor: Run | None) -> None:
    """Add the predictor, where there is one, and the workers, and keep all running."""
    threads = task_limits(family.settings).threads
    if run_predictor:
        import_early(tenant.IMPORTS)
        family.add("predictor", run_predictor, threads)
    import_early(local.IMPORTS)
    for number in range(1, family.settings.workers + 1):
        family.add("worker", run_worker, threads, number)
    family.keep_running()


class _Family:
    """Processes that are forked from this one, each with what was imported until then."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self._stop = Stop.on_signals()
        self._processes: list[ManagedProcess] = []

    def add(self, kind: str, run: Run, threads: int, number: int = 1) -> None:
        """Start a process that does ``run``; its numerical libraries have ``threads`` threads."""
        start = _forked(f"{kind}-{number}", run, self.settings, threads)
        process = ManagedProcess(kind, number, self.settings.home, start)
        self._processes.append(process)
        if not self._stop.asked:
            process.keep_running()

    def keep_running(self) -> None:
        """Start again what ends, until this process is asked to stop; then stop all."""
        try:
            keep_running_until(self._stop, self._processes)
        finally:
            stop_all(self._processes, GRACE)


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


def _forked(name: str, run: Run, settings: Settings, threads: int) -> Start:
    """Return what forks this process and calls ``run`` there. This process must have one thread."""

    def start(output: BinaryIO) -> Forked:
        gc.freeze()  # collecting garbage in a child does not copy these pages
        arguments = (name, run, settings, threads, output.fileno())
        process = get_context("fork").Process(target=_child, args=arguments)
        process.start()
        return Forked(process)

    return start


def _child(name: str, run: Run, settings: Settings, threads: int, output: int) -> None:
    os.setsid()  # Ctrl-C reaches the supervisor only
    die_with_parent()
    name_process(name)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(output, 1)
    os.dup2(output, 2)
    use_own_folder(settings.home, name)
    cap_threads(threads)
    run(settings)
