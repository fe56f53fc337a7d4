"""What the engine's tests share: a warm executor that runs the test bodies, and a store with a tenant."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])

import bodies_for_tests

from easeml.engine.executors import LocalExecutor
from easeml.store import Store

PATIENCE = 30.0  # seconds


@pytest.fixture(scope="session")
def executor() -> Iterator[LocalExecutor]:
    """A warm executor for the bodies of ``bodies_for_tests``."""
    made = LocalExecutor(bodies_for_tests.run, preload=())
    yield made
    made.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store on SQLite."""
    opened = Store.open(f"sqlite:///{tmp_path / 'easeml.db'}", tmp_path / "artefacts")
    yield opened
    opened.close()


def alive(pid: int) -> bool:
    """Is there a process of that id that still runs (a zombie does not)?"""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


def eventually(condition: Callable[[], object]) -> None:
    """Wait until ``condition()`` is true; fail after a generous time."""
    latest = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < latest, "it did not happen"
        time.sleep(0.005)
