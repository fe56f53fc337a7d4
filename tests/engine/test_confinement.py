"""A hostile body in a confined child: what it may not do, tried; and what honest ones may."""

import os
import platform
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import attacks_for_tests
import pytest

from easeml.confinement import Isolation, check_available
from easeml.contract.tasks import Limits
from easeml.engine.executors import LocalExecutor
from easeml.errors import Conflict
from isolation_levels import LEVELS, needs_level, why_not

LIMITS = Limits(seconds=30, memory=2**30, threads=1)
HONEST = "kill-own-threads-stay"
WITHOUT_PRIVILEGES = {"mount", "set-clock", "make-device", "new-user-namespace", "use-io-uring"}
STOPPED_ANYWAY = {"use-descriptors-left-open", "trace-another", "read-memory-of-another"}

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="Landlock and seccomp are used on Linux on x86-64",
)


@pytest.fixture(scope="module")
def executors() -> Iterator[dict[str, LocalExecutor]]:
    made = {
        level: LocalExecutor(LIMITS, attacks_for_tests.run, preload=(), isolation=level)
        for level in LEVELS
        if not why_not(level)
    }
    yield made
    for one in made.values():
        one.close()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def tried(executor: LocalExecutor, tmp_path: Path, attack: str, port: int) -> dict[str, str]:
    """Return what came of an attack on a secret beside the work folder, and on this process."""
    secret = tmp_path / "home" / "secret"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("the data of another tenant")
    folder = tmp_path / "work"
    folder.mkdir()
    unix = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(unix)
        server.listen()
        (folder / "do").write_text(attack)
        (folder / "target").write_text(unix if "unix" in attack else str(secret))
        (folder / "pid").write_text(str(port if attack == "connect" else os.getpid()))
        outcome = executor.start(folder, LIMITS).wait()
    assert outcome.ending == "finished", outcome.result.error
    value = outcome.result.value
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize("attack", sorted(set(attacks_for_tests.ATTACKS) - {HONEST}))
def test_a_confined_child_is_stopped(
    executors: dict[str, LocalExecutor],
    tmp_path: Path,
    listener: socket.socket,
    attack: str,
    level: str,
) -> None:
    needs_level(level)
    port = listener.getsockname()[1]
    found = tried(executors[level], tmp_path, attack, port)
    assert "stopped" in found, found
    assert (tmp_path / "home" / "secret").read_text() == "the data of another tenant"


@pytest.mark.parametrize(
    "attack",
    sorted(set(attacks_for_tests.ATTACKS) - {HONEST} - WITHOUT_PRIVILEGES - STOPPED_ANYWAY),
)
def test_without_confinement_the_attack_would_succeed(
    executors: dict[str, LocalExecutor], tmp_path: Path, listener: socket.socket, attack: str
) -> None:
    """So that the test above can fail: these are real attacks."""
    port = listener.getsockname()[1]
    assert "got" in tried(executors["none"], tmp_path, attack, port)


@pytest.mark.parametrize("level", LEVELS)
def test_what_honest_bodies_do_goes_on_working(
    executors: dict[str, LocalExecutor], tmp_path: Path, level: Isolation
) -> None:
    needs_level(level)
    assert tried(executors[level], tmp_path, HONEST, 0) == {"got": "6"}


def test_a_home_that_python_reads_cannot_be_protected() -> None:
    with pytest.raises(Conflict, match="which Python reads"):
        check_available(Path(sys.prefix) / "home")
