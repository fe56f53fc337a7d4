"""A real easeml with all its processes, for tests that use it as a person would: by its commands
and its REST API.
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

import commands
from easeml.client import Client
from easeml.contract.devices import WorkerDevice

KEY = re.compile(r"EASEML_API_KEY=(\S+)")  # printed at the first start
READY_SECONDS = 60.0
LOOK_EVERY = 0.25  # seconds: each look costs processor time


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _children(pid: int) -> list[int]:
    """Return the process ids of a process's children."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _ends(pids: list[int]) -> list[int]:
    """Return a descriptor for each process, that can be read when it has ended."""
    return [os.pidfd_open(pid) for pid in pids]


def _is_prefork(pid: int) -> bool:
    return b"\0prefork\0" in Path(f"/proc/{pid}/cmdline").read_bytes()


class EasemlProcess:
    """``easeml up`` on a home of its own; ``start`` again continues where it was.

    ``settings``: ``EASEML_*``.
    """

    def __init__(self, home: Path, workers: int = 2, **settings: str):
        self.home = home
        self.workers = workers
        self.settings = {f"EASEML_{name.upper()}": value for name, value in settings.items()}
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.output: list[str] = []
        self.key = ""

    def start(self) -> None:
        """Start and wait until it answers."""
        arguments = ["up", "--home", str(self.home), "--port", str(self.port)]
        arguments += ["--workers", str(self.workers)]
        environment = {**os.environ, **self.settings, "PYTHONUNBUFFERED": "1"}
        self.process = self._launch(arguments, environment)
        self._answers = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._answers.wait(READY_SECONDS), "".join(self.output)

    def _launch(
        self, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "easeml.cli", *arguments]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line)
            if found := KEY.search(line):
                self.key = found.group(1)
            if "is up at" in line:
                self._answers.set()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send one JSON request; return the JSON answer. Raises ``HTTPError``."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def command(self, *arguments: str, expect: int = 0) -> str:
        """Run an easeml command against this service; return its standard output."""
        run = commands.run(arguments, {"EASEML_URL": self.url, "EASEML_API_KEY": self.key})
        assert run.returncode == expect, f"exit {run.returncode}\n{run.stdout}\n{run.stderr}"
        return run.stdout if expect == 0 else run.stdout + run.stderr

    def wait(
        self, application: str, until: Literal["first-model", "converged"], seconds: float
    ) -> None:
        """Wait as ``easeml app wait`` does, without a process of its own. Raises ``TimedOut``."""
        with Client(self.url, self.key) as client:
            client.wait(application, until=until, timeout=seconds)

    def wait_for_devices(self, count: int, seconds: float = 90.0) -> list[WorkerDevice]:
        """Return the devices as soon as ``count`` are there: they are after the service answers."""
        deadline = time.monotonic() + seconds
        with Client(self.url, self.key) as client:
            while len(there := list(client.devices())) < count:
                assert time.monotonic() < deadline, there
                time.sleep(LOOK_EVERY)
        return there

    def stop_searches(self, resting: bool = True) -> None:
        """Stop all searches of the user whose key is held; ``resting``: also those that rest."""
        ended = ("stopped", "failed") if resting else ("stopped", "failed", "resting")
        for job in self.call("GET", "/api/v1/jobs?limit=200")["items"]:
            if job["state"] in ended:
                continue
            try:
                self.call("POST", f"/api/v1/jobs/{job['id']}/stop")
            except urllib.error.HTTPError as error:
                if error.code != HTTPStatus.NOT_FOUND:  # of a deleted application
                    raise

    def kill(self, kind: str) -> None:
        """Kill -9 one running process of a kind, unless it was killed just before.

        ``prefork``: the process that all others but the supervisor are forked from; returns when
        these have ended with it.
        """
        if kind == "prefork":
            pids = [pid for pid in _children(self.process.pid) if _is_prefork(pid)]
        else:
            processes = self.call("GET", "/api/v1/status")["processes"]
            of_kind = [process["pid"] for process in processes if process["kind"] == kind]
            pids = [pid for pid in of_kind if Path(f"/proc/{pid}").exists()]
        if not pids:
            return
        forked = _ends(_children(pids[0])) if kind == "prefork" else []
        os.kill(pids[0], signal.SIGKILL)
        for end in forked:
            select.select([end], [], [])
            os.close(end)

    def wait_until_answering(self, seconds: float = 90.0) -> None:
        """Return as soon as /healthz answers."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(self.url + "/healthz", timeout=2)
            except (urllib.error.URLError, OSError):
                time.sleep(
                    LOOK_EVERY
                )  # a closed loop would take the processor from what is starting
                continue
            return
        raise TimeoutError("the service does not answer")

    def stop(self) -> int:
        """Ctrl-C; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        self._reader.join(5)
        return code
