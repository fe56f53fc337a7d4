"""A Ray cluster on loopback: a head without processors, and a node of two that can be lost."""

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from service_process import LOOK_EVERY, free_port

_READY_SECONDS = 120.0
_LOOPBACK = "127.0.0.2"  # in place of the usual one, Ray takes an address of the network
_PORTS = (
    "metrics-export-port",
    "dashboard-agent-grpc-port",
    "dashboard-agent-listen-port",
    "runtime-env-agent-port",
    "node-manager-port",
    "object-manager-port",
)
"""Named, as a node whose agents choose theirs waits for them, and gives up on a busy machine."""


class RayCluster:
    """``environment``: what whoever uses it needs. ``work``: where nodes have attempts write."""

    name = "ray"

    def __init__(self, folder: Path):
        self.port = free_port()
        self.address = f"{_LOOPBACK}:{self.port}"
        self.work = folder / f"easeml-ray-{os.getuid()}"
        self._folder = folder
        self._programs: list[subprocess.Popen[bytes]] = []
        self.environment = {
            "RAY_ADDRESS": self.address,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONDONTWRITEBYTECODE": "",  # Ray starts many programs
            "TMPDIR": str(folder),
        }

    def start(self) -> None:
        """Start the head, and a node."""
        self._start(
            "head", "--head", f"--port={self.port}", "--num-cpus=0", "--include-dashboard=false"
        )
        self._node = self._start_node()

    def lose_node(self) -> None:
        """Kill -9 what Ray calls the raylet of the node."""
        for pid in _children(self._node.pid):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "raylet":
                os.kill(pid, signal.SIGKILL)
        self._node.wait(_READY_SECONDS)

    def replace_node(self, **environment: str) -> None:
        """Lose the node, and start another with more in its environment."""
        self.lose_node()
        self._node = self._start_node(**environment)

    def stop(self) -> None:
        """Stop all that runs."""
        for program in reversed(self._programs):
            program.terminate()
        for program in self._programs:
            program.wait(_READY_SECONDS)

    def _start_node(self, **environment: str) -> subprocess.Popen[bytes]:
        name = f"node-{len(self._programs)}"
        return self._start(name, f"--address={self.address}", "--num-cpus=2", **environment)

    def _start(self, name: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *arguments]
        command += [f"--node-ip-address={_LOOPBACK}", "--object-store-memory=200000000"]
        if name == "head":
            command += [f"--temp-dir={self._folder / 'ray'}"]
        log = self._folder / f"{name}.log"
        latest = time.monotonic() + _READY_SECONDS
        while time.monotonic() < latest:
            if program := self._tried(command, log, {**os.environ, **self.environment, **more}):
                self._programs.append(program)
                return program
        raise TimeoutError(log.read_text())

    def _tried(
        self, command: list[str], log: Path, environment: dict[str, str]
    ) -> subprocess.Popen[bytes] | None:
        """Start a program of Ray; None where it ended, which one that waited for 30 s does."""
        ports = [f"--{port}={free_port()}" for port in _PORTS]
        with log.open("wb") as output:
            program = subprocess.Popen(
                [*command, *ports], stdout=output, stderr=subprocess.STDOUT, env=environment
            )
        while b"Ray runtime started" not in log.read_bytes():
            if program.poll() is not None:
                return None
            time.sleep(LOOK_EVERY)
        return program


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
