"""Machines that join an easeml, on this one: processes with a home, a clock and networks of their own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from cluster_bucket import Bucket, environment
from cut_network import Network
from easeml.client import Client
from jumping_clock import JumpingClock
from service_process import EasemlProcess, free_port

READY_SECONDS = 300.0  # many start at once, on few cores


class Machine:
    """A machine that has joined: ``easeml worker --join`` with a home, a clock and a network of its
    own.
    """

    def __init__(
        self,
        easeml: EasemlProcess,
        home: Path,
        server: Path | None,
        bucket: Bucket | None,
        clocks: Path | None,
    ):
        """``server``: socket of the database; ``clocks``: library that lets clocks jump."""
        self._easeml = easeml
        self._home = home
        self._said = home.with_suffix(".log")
        self._environment = {"EASEML_API_KEY": easeml.key}
        self.network: Network | None = None
        self.bucket_network: Network | None = None
        self.clock: JumpingClock | None = None
        if server is not None:
            way = home.with_suffix(".net")
            way.mkdir()
            self.network = Network(way / server.name, server)
            self._environment["PGHOST"] = str(way)
        if bucket is not None:
            port = free_port()
            self.bucket_network = Network(port, bucket.port)
            self._environment |= environment(port)
        if clocks is not None:
            self.clock = JumpingClock(clocks, home.with_suffix(".clock"))
            self._environment |= self.clock.environment
        self.join()

    def join(self) -> None:
        """Start it."""
        arguments = ["worker", "--join", self._easeml.url, "--home", str(self._home)]
        arguments += ["--serve", "127.0.0.1"]
        with self._said.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "easeml.cli", *arguments],
                env={**os.environ, **self._environment},
                stdout=output,
                stderr=output,
            )

    def vanish(self) -> None:
        """Kill all of its processes at once."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Let all of its processes stand still meanwhile."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def state(self) -> str:
        """Return whether it runs, and the last that it said."""
        code = self._process.poll()
        ended = "runs" if code is None else f"ended with {code}"
        said = self._said.read_text(errors="replace").splitlines()[-5:]
        return "\n  ".join([f"{self._home.name} {ended}", *said])

    def leave(self) -> None:
        """End it as Ctrl-C does."""
        self._process.terminate()
        self._process.wait()
        for network in (self.network, self.bucket_network):
            if network is not None:
                network.close()

    @property
    def pid(self) -> int:
        """Process id of what started all others of it."""
        return self._process.pid

    def _signal(self, number: signal.Signals) -> None:
        signal_all(with_descendants(self._process.pid), number)


def signal_all(pids: Sequence[int], number: signal.Signals) -> None:
    """Send a signal to those of these processes that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def with_descendants(root: int) -> list[int]:
    """Return a process and all that it has started, parents first."""
    found = [root]
    for pid in found:
        try:
            for thread in Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (thread / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def wait_for_devices(services: Sequence[EasemlProcess], machines: Sequence[Machine]) -> None:
    """Wait until the services and all machines have their devices."""
    easeml = services[0]
    count = sum(service.workers for service in services) + len(machines)
    latest = time.monotonic() + READY_SECONDS
    with Client(easeml.url, easeml.key) as client:
        while sum(device.state.value in ("free", "working") for device in client.devices()) < count:
            if time.monotonic() > latest:
                states = "\n".join(machine.state() for machine in machines)
                raise TimeoutError(f"Fewer than {count} devices are there.\n{states}")
            time.sleep(0.2)
