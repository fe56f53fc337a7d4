"""A running supervisor gives way to the next version (decision 0129): that one's processes start
beside its own, which are drained once the others are ready; then it becomes the other's supervisor.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import structlog

from easeml.errors import EasemlError
from easeml.settings import Settings

from . import handover, listening, signals
from .handover import DRAIN_SECONDS, Answer, Asked, Channel, Handed
from .limits import parent_environment
from .managed_process import (
    LOOK_EVERY,
    ManagedProcess,
    Started,
    command_of,
    program_of,
    stop_all,
)
from .reasons import reason_in
from .signals import Stop

_READY_WITHIN = 300.0  # seconds, in which every live model is loaded
_GRACE = 5.0  # seconds between asking to end and killing
_LONGEST_REASON = 65_536  # bytes of a log
_log = structlog.get_logger()


class Succession:
    """Looks for requests to give way, and does so."""

    def __init__(
        self,
        settings: Settings,
        lock: int,
        listeners: Sequence[socket.socket],
        processes: Sequence[ManagedProcess],
        stop: Stop,
    ):
        """``lock``: the open file that holds the home. ``processes``: the ``prefork`` first."""
        self._settings = settings
        self._lock = lock
        self._listeners = listeners
        self._processes = processes
        self._stop = stop

    def look(self) -> None:
        """Give way where that was asked for, which does not return; where the next version does not
        start, say so and go on.
        """
        asked = handover.take(self._settings.home)
        if asked is None:
            return
        try:
            self._become(asked, self._succeeded(asked))
        except (EasemlError, OSError) as error:
            reason = getattr(error, "message", str(error))
            _log.warning("not upgraded", python=asked.python, error=reason)
            handover.answer(self._settings.home, Answer(asked.id, error=reason))

    def _succeeded(self, asked: Asked) -> Started:
        """Return the other's ``prefork``, whose controller answers, or soon will.

        The own one has ended. Raises ``EasemlError`` where the other does not start.
        """
        successor = _Successor(self._settings, asked.python, self._listeners)
        try:
            word = successor.next_word(self._go_on)
            if word == handover.WAITS:
                self._drain(successor.process)
                successor.tell(handover.GO)
                successor.next_word(_do_nothing)
        except BaseException:
            successor.end()
            raise
        self._drain(successor.process)
        return successor.process

    def _go_on(self) -> None:
        """Look after the own processes. Raises ``EasemlError`` if this one is asked to end."""
        for process in self._processes:
            process.keep_running()
        if self._stop.asked:
            raise EasemlError("easeml was asked to stop.")

    def _drain(self, successor: Started) -> None:
        """End the own processes, once what they were asked is answered.

        That is not waited for where the other's ``prefork`` has ended, as nobody answers at the
        sockets then, nor where this one is asked to end.
        """
        prefork, *machines = self._processes
        prefork.drain()
        latest = time.monotonic() + DRAIN_SECONDS + 3 * _GRACE
        while prefork.pid is not None and self._may_drain_until(latest, successor):
            time.sleep(LOOK_EVERY)
        prefork.end(_GRACE)
        stop_all(machines, _GRACE)

    def _may_drain_until(self, latest: float, successor: Started) -> bool:
        is_too_late = time.monotonic() >= latest or self._stop.asked
        return not is_too_late and successor.poll() is None

    def _become(self, asked: Asked, prefork: Started) -> None:
        """Run the other's supervisor in this very process, unless that was asked to end meanwhile.

        Raises ``OSError`` if there is no such program.
        """
        self._processes[0].adopt(prefork)
        signals.hold()  # until the other's supervisor can stop what it takes over
        try:
            self._replace_this(asked, prefork)
        finally:
            signals.let_come()

    def _replace_this(self, asked: Asked, prefork: Started) -> None:
        if self._stop.asked:
            return
        open_files = [self._lock, *listening.descriptors(self._listeners)]
        handed = Handed(asked.id, open_files[0], open_files[1:], prefork.pid)
        for number in open_files:
            os.set_inheritable(number, True)
        home = str(self._settings.home)
        variables = {**os.environ, **self._settings.flags(), **handed.as_environment()}
        sys.stdout.flush()
        command = command_of(asked.python, "up", "--home", home)
        os.execve(asked.python, command, variables)  # noqa: S606  the owner named it


class _Successor:
    """The ``prefork`` of the next version, as long as it is not the one that serves."""

    def __init__(self, settings: Settings, python: str, listeners: Sequence[socket.socket]):
        """Start it. Raises ``OSError`` if there is no such program."""
        self._channel, theirs = Channel.pair()
        variables = {
            **parent_environment(),
            **settings.flags(),
            **listening.as_environment(listeners),
            **theirs.as_environment(),
        }
        inherited = [theirs.descriptor, *listening.descriptors(listeners)]
        self._log = settings.home / "logs" / "prefork-1.log"
        start = program_of(python, "prefork", settings.home, variables, inherited)
        with self._log.open("ab") as output:
            self._said_before = output.tell()
            self.process = start(output)
        theirs.close()

    def next_word(self, meanwhile: Callable[[], None]) -> str:
        """Return what it says next. Raises ``EasemlError`` where it ends, or is silent for long."""
        latest = time.monotonic() + _READY_WITHIN
        while (word := self._channel.hear(LOOK_EVERY)) is None:
            meanwhile()
            if time.monotonic() > latest:
                raise EasemlError(f"The new version was not ready within {_READY_WITHIN:g} s.")
        if not word:
            raise EasemlError(f"The new version does not start: {self._reason()}")
        return word

    def tell(self, word: str) -> None:
        """Say a word to it."""
        self._channel.say(word)

    def end(self) -> None:
        """End it, and all that it started."""
        self._channel.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def _reason(self) -> str:
        """Return why it ended, in a line: the last that it wrote to its log has all of it."""
        with self._log.open("rb") as log:
            log.seek(self._said_before)
            said = log.read()[-_LONGEST_REASON:].decode(errors="replace")
        return reason_in(said) or "it wrote nothing."


def _do_nothing() -> None:
    """The own processes have ended."""
