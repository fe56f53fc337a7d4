"""Starts an exported server in a fresh process, and asks it."""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

_RUNNING = re.compile(r"running on (http://[\d.]+:\d+)")


@contextmanager
def running(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Iterator[tuple[httpx.Client, int]]:
    """Run a server with nothing but ``environment``, and give a client that asks it, and its process id.

    The server says where it listens: on a port that the system chose.
    """
    process = subprocess.Popen(
        command, cwd=folder, env=dict(environment), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = []
    try:
        for line in process.stderr:
            said.append(line)
            found = _RUNNING.search(line)
            if found is not None:
                break
        else:
            raise AssertionError("it ended: " + "".join(said))
        with httpx.Client(base_url=found.group(1), timeout=60) as client:
            yield client, process.pid
    finally:
        process.terminate()
        process.stderr.close()
        process.wait(timeout=30)
