"""``easeml upgrade``: another version takes the place of a running one, and clients do not notice."""

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from easeml.client import Client
from easeml.contract.status import Event
from easeml.errors import Unreachable
from easeml.store.migrate import SCHEMA_VERSION
from easeml.version import __version__
from older_homes import HOMES, key_of_first_user, unpack
from other_versions import SOURCES, install
from service_process import EasemlProcess
from steady_client import SteadyClient

pytestmark = pytest.mark.service
SECONDS = 120.0  # until a version that was asked for answers, on a busy machine
NEXT_SCHEMA = "9000"
MIGRATION = f'''"""Of a test."""

import sqlalchemy as sa
from alembic import op

revision = "{NEXT_SCHEMA}"
down_revision = "{SCHEMA_VERSION}"


def upgrade() -> None:
    op.create_table("of_a_test", sa.Column("id", sa.Text(), primary_key=True))
'''


def upgrade(python: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run ``easeml upgrade`` of another version."""
    command = [str(python), "-P", "-m", "easeml.cli", "upgrade", "--home", str(home)]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def broken_version(folder: Path) -> Path:
    """Return the Python of a version that lacks a library."""
    return install(folder, "0.1.1", engine__prefork='raise ImportError("libnew.so is not there")')


def changed_version(folder: Path, migration: str) -> Path:
    """Return the Python of a version whose database has another form."""
    text = (SOURCES / "store" / "migrate.py").read_text()
    migrate = text.replace(f'"{SCHEMA_VERSION}"', f'"{NEXT_SCHEMA}"')
    assert migrate != text
    others = {"store__migrate": migrate, "store__migrations__versions__9000_of_a_test": migration}
    return install(folder, "0.1.3", **others)


class SlowUpload:
    """A table of which half is sent, and the rest when ``finish`` is called."""

    def __init__(self, service: EasemlProcess, table: bytes):
        self._connection = socket.create_connection(("127.0.0.1", service.port))
        self._rest = table[len(table) // 2 :]
        head = (
            "POST /api/v1/datasets?filename=slow.csv HTTP/1.1\r\nHost: easeml\r\nContent-Type: text/csv\r\n"
            f"Authorization: Bearer {service.key}\r\nContent-Length: {len(table)}\r\n\r\n"
        )
        self._connection.sendall(head.encode() + table[: len(table) // 2])

    def finish(self) -> dict[str, Any]:
        """Send the rest; return the answer."""
        self._connection.sendall(self._rest)
        with self._connection, HTTPResponse(self._connection) as answer:
            answer.begin()
            assert answer.status == HTTPStatus.CREATED, answer.read()
            assert answer.headers["x-easeml-version"] == __version__
            return json.load(answer)


class Follower(threading.Thread):
    """Follows all events from the first on, as ``Client.events`` does: over every lost connection."""

    def __init__(self, service: EasemlProcess):
        super().__init__(daemon=True)
        self._service = service
        self._came = threading.Condition()
        self.seen: list[Event] = []

    def run(self) -> None:
        with suppress(Unreachable), Client(self._service.url, self._service.key) as client:
            for event in client.events(after=0):
                with self._came:
                    self.seen.append(event)
                    self._came.notify_all()

    def wait_for(self, kind: str, subject: str) -> None:
        """Return once an event came. Raises ``AssertionError`` if it does not in time."""
        is_wanted = lambda one: (one.kind, one.subject) == (kind, subject)  # noqa: E731
        with self._came:
            assert self._came.wait_for(lambda: any(map(is_wanted, self.seen)), SECONDS)


@contextmanager
def running(tmp_path: Path) -> Iterator[tuple[EasemlProcess, Path, str, bytes]]:
    """Give a service with a live model, its home, its application, and the table of that."""
    home, kept = unpack(HOMES[-1], tmp_path)
    service = EasemlProcess(home, workers=1)
    service.start()
    try:
        service.key = key_of_first_user(home)
        application = (kept / "application").read_text().strip()
        yield service, home, application, (kept / "customers.csv").read_bytes()
        assert service.process.poll() is None  # it is still what a terminal or systemd knows
    finally:
        code = service.stop()
    assert code == 0


def first_rows(table: bytes) -> bytes:
    """Return the names and four rows of a table."""
    return b"".join(table.splitlines(keepends=True)[:5])


def test_a_running_service_is_upgraded_and_answers_all_the_time(tmp_path: Path) -> None:
    with running(tmp_path) as (service, home, application, table):
        follower = Follower(service)
        follower.start()
        with SteadyClient(service, application, first_rows(table)) as client:
            refused = upgrade(broken_version(tmp_path / "broken"), home)
            assert refused.returncode != 0
            assert "libnew.so is not there" in refused.stderr
            assert "Traceback" not in refused.stderr
            upload = SlowUpload(service, table)
            done: list[subprocess.CompletedProcess[str]] = []
            next_one = install(tmp_path / "next", "0.1.2")
            upgrading = threading.Thread(target=lambda: done.append(upgrade(next_one, home)))
            upgrading.start()
            client.wait_for_version("0.1.2", SECONDS)
            uploaded = upload.finish()
            upgrading.join()
            assert done[0].returncode == 0, done[0].stderr
            beside = client.longest
            changed = upgrade(changed_version(tmp_path / "changed", MIGRATION), home)
            assert changed.returncode == 0, changed.stderr
            client.wait_for_version("0.1.3", SECONDS)
            follower.wait_for("dataset.ready", uploaded["version"]["id"])
        assert client.wrong == []
        assert client.versions.keys() == {__version__, "0.1.2", "0.1.3"}
        numbers = [event.seq for event in follower.seen]
        assert numbers == sorted(set(numbers))
        assert (home / f"easeml.db.before-{NEXT_SCHEMA}").exists()
        print(f"longest wait {beside:.2f} s, with another schema {client.longest:.2f} s")
        print(done[0].stdout, changed.stdout)


def processes_below(pid: int) -> str:
    """Return the ids of the processes that a process has started."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


@pytest.mark.long
@pytest.mark.parametrize("rehearsed", [True, False])
def test_where_the_database_cannot_be_changed_the_old_version_answers(
    tmp_path: Path, rehearsed: bool
) -> None:
    fails = "op.execute('SELECT 1/')"
    if not rehearsed:
        fails = f"'rehearsal' in str(op.get_bind().engine.url) or {fails}"
    failing = MIGRATION.replace("op.create_table", f"{fails}; op.create_table")
    assert failing != MIGRATION
    with running(tmp_path) as (service, home, application, table):
        before = processes_below(service.process.pid)
        with SteadyClient(service, application, first_rows(table)) as client:
            refused = upgrade(changed_version(tmp_path / "failing", failing), home)
            assert refused.returncode != 0
            assert "incomplete input" in refused.stderr
            answered = client.versions[__version__]
            client.wait_for_version(__version__, SECONDS, answered + 10)
        # What fails on the copy already interrupts nobody; else the old processes start again.
        assert (processes_below(service.process.pid) == before) == rehearsed
        assert client.wrong == []
        print(f"longest wait {client.longest:.2f} s")
