"""A hostile body in a confined child: what it may not do, tried; and what honest ones may."""

import os
import platform
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import attacks_for_tests
import pytest
from warm_bodies import WARM

from easeml.confinement import Isolation, check_available
from easeml.contract.tasks import GRANT, Limits
from easeml.engine.executors import LocalExecutor
from easeml.errors import Conflict
from easeml.namespaces import FIRST_USER
from isolation_levels import LEVELS, needs_level, why_not

LIMITS = Limits(seconds=30, memory=2**30, threads=1)
HONEST = "kill-own-threads-stay"
OF_ROOT = {
    "mount", "set-clock", "make-device", "new-user-namespace", "use-io-uring", "change-owner",
    "watch-all-files", "join-namespace-of-another", "raise-own-limits", "become-another-user",
    "change-root", "open-kernel-setting", "read-kernel-log", "name-the-machine",
    "mount-by-new-calls", "stop-at-page-faults",
}  # fmt: skip
"""Attacks that a system lets only some succeed with, if anybody."""
STOPPED_ANYWAY = {
    "use-descriptors-left-open", "trace-another", "read-memory-of-another",
    "read-memory-of-another-by-call", "take-descriptor-of-another", "call-by-another-abi",
}  # fmt: skip
"""Attacks that most systems let nobody succeed with."""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="Landlock and seccomp are used on Linux on x86-64",
)


@pytest.fixture(scope="module")
def executors() -> Iterator[dict[str, LocalExecutor]]:
    made = {
        level: LocalExecutor(LIMITS, attacks_for_tests.run, preload=WARM, isolation=level)
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
    folder.mkdir(exist_ok=True)
    unix = str(tmp_path / "s")
    is_sent = attack.startswith("send-to")
    with socket.socket(
        socket.AF_UNIX, socket.SOCK_DGRAM if is_sent else socket.SOCK_STREAM
    ) as server:
        server.bind(unix)
        if not is_sent:
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
    secret = tmp_path / "home" / "secret"
    assert secret.read_text() == "the data of another tenant"
    assert [path.name for path in secret.parent.iterdir()] == ["secret"]


@pytest.mark.parametrize(
    "attack",
    sorted(set(attacks_for_tests.ATTACKS) - {HONEST} - OF_ROOT - STOPPED_ANYWAY),
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


@pytest.mark.parametrize("level", LEVELS)
def test_a_task_that_was_granted_the_network_has_it_at_each_level(
    executors: dict[str, LocalExecutor], tmp_path: Path, listener: socket.socket, level: Isolation
) -> None:
    needs_level(level)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / GRANT).write_text("{}")
    assert "got" in tried(executors[level], tmp_path, "connect", listener.getsockname()[1])


@pytest.mark.parametrize("level", ["user", "sandbox"])
def test_each_child_has_a_user_id_of_its_own(
    executors: dict[str, LocalExecutor], tmp_path: Path, level: Isolation
) -> None:
    needs_level(level)
    if os.geteuid() != 0:
        pytest.skip("only root gives user ids")
    users = set[int]()
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert tried(executors[level], folder, HONEST, 0) == {"got": "6"}
        users.add((folder / "work" / "copy").stat().st_uid)
    assert len(users) == 3
    assert min(users) > FIRST_USER


def test_there_are_forty_attacks() -> None:
    assert len(attacks_for_tests.ATTACKS) - 1 >= 40


def test_a_home_that_python_reads_cannot_be_protected() -> None:
    with pytest.raises(Conflict, match="which Python reads"):
        check_available(Path(sys.prefix) / "home")
