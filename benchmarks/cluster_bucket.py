"""A bucket for a cluster: a server that speaks S3, in a process of its own that can stand still.

It is moto's, with the libraries of ``requirements-s3.lock``. It keeps objects in its memory, and
looks neither at signatures nor at the clock of who asks.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from common import ROOT
from service_process import free_port

URL = "s3://lab-models/easeml"
_READY_SECONDS = 120.0
_RIGHTS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}


class Bucket:
    """``environment``: of who shall use it. ``port``: of loopback."""

    def __init__(self, log: Path):
        """Start the server; returns when it has the bucket. Raises ``TimeoutError``."""
        libraries = subprocess.run(
            [ROOT / "scripts" / "library-folder", "requirements-s3.lock"],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout.strip()
        self.port = free_port()
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, "PYTHONPATH": libraries},
                stdout=output,
                stderr=output,
            )
        self.environment = environment(self.port)
        self._wait()

    def _wait(self) -> None:
        address = f"http://127.0.0.1:{self.port}/lab-models"
        latest = time.monotonic() + _READY_SECONDS
        while True:
            try:
                httpx.put(address, timeout=60, trust_env=False).raise_for_status()
            except httpx.TransportError:
                if time.monotonic() > latest or self._process.poll() is not None:
                    raise TimeoutError("The server of the bucket does not answer.") from None
                time.sleep(0.2)
                continue
            return

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Let it stand still meanwhile."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it; what it kept is gone."""
        self._process.kill()
        self._process.wait()


def environment(port: int) -> dict[str, str]:
    """Return what a program needs that reaches the bucket at a port of loopback."""
    return {**_RIGHTS, "AWS_ENDPOINT": f"http://127.0.0.1:{port}"}
