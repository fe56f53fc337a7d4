"""The log of a SQLite database (``-wal``, and its index ``-shm``) is removed under a running service."""

import errno
import multiprocessing
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from easeml.errors import DatabaseAway
from easeml.settings import Settings
from easeml.store import Store, Tenant
from easeml.store.sqlite import driver
from easeml.store.sqlite_log import LogFiles, SqliteLog

pytestmark = pytest.mark.skipif(
    not Path("/proc/locks").exists(), reason="who holds a removed file is known on Linux"
)
REMOVED = pytest.mark.parametrize("removed", ["-wal", "-shm", "-wal -shm"])
SECONDS = 60.0  # until another process answers, on a busy machine


@pytest.fixture
def home(tmp_path: Path, fresh_database: Path) -> Path:
    """A home whose database has tables and no rows."""
    made = tmp_path / "home"
    made.mkdir()
    shutil.copy(fresh_database, made / "easeml.db")
    return made


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    """The store of a process that runs; all that it has written is in the log."""
    with closing(Store.found(Settings(home=home))) as opened:
        add(opened, "before")
        yield opened


def add(store: Store, name: str) -> None:
    with store.write() as tx:
        tx.tenants.add(Tenant(name, name))


def names(store: Store) -> set[str]:
    with store.read() as tx:
        return set(tx.tenants.column("id"))


def remove(home: Path, removed: str) -> None:
    for suffix in removed.split():
        (home / f"easeml.db{suffix}").unlink()


def names_after_a_crash(home: Path, folder: Path) -> set[str]:
    """Return what is there where all processes are killed at this moment."""
    # Who opens and closes a file of SQLite drops the locks that his process has on it.
    subprocess.run(["cp", "-r", home, folder], check=True)
    with closing(Store.found(Settings(home=folder))) as anew:
        anew.check_integrity()
        return names(anew)


class Other:
    """Another process with the database open: adds names, and tells what it sees."""

    def __init__(self, home: Path):
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=self._answer, args=(home, theirs))
        self._process.start()
        assert self._heard() == "ready"

    def _answer(self, home: Path, pipe: Connection) -> None:
        store = Store.found(Settings(home=home))
        pipe.send("ready")
        while name := pipe.recv():
            try:
                add(store, name)
                pipe.send(names(store))
            except DatabaseAway as away:
                pipe.send(away)
        os._exit(0)  # it is killed: nothing is put in order

    def add(self, name: str) -> set[str]:
        """Return what it sees after it has added a name."""
        self._pipe.send(name)
        seen = self._heard()
        if isinstance(seen, Exception):
            raise seen
        return seen

    def kill(self) -> None:
        """End it at once."""
        self._pipe.send("")
        self._process.join(SECONDS)

    def _heard(self) -> Any:
        assert self._pipe.poll(SECONDS)
        return self._pipe.recv()


@pytest.fixture
def other(home: Path) -> Iterator[Other]:
    """Another process that has the database open."""
    made = Other(home)
    yield made
    made.kill()


@REMOVED
def test_nothing_acknowledged_is_lost_when_all_are_killed_after_the_next_look(
    store: Store, home: Path, tmp_path: Path, removed: str
) -> None:
    remove(home, removed)
    names(store)
    assert {"before"} <= names_after_a_crash(home, tmp_path / "looked")
    add(store, "after")
    assert {"before", "after"} <= names_after_a_crash(home, tmp_path / "written")


@REMOVED
def test_processes_go_on_with_one_log(
    other: Other, store: Store, home: Path, tmp_path: Path, removed: str
) -> None:
    other.add("of the other")
    remove(home, removed)
    add(store, "mine")
    assert other.add("theirs") >= {"before", "of the other", "mine", "theirs"}
    add(store, "again")
    assert other.add("at last") == names(store)
    assert names_after_a_crash(home, tmp_path / "crashed") == names(store)


@REMOVED
def test_who_starts_meanwhile_sees_all_and_uses_the_same_log(
    other: Other, home: Path, tmp_path: Path, removed: str
) -> None:
    other.add("before")
    remove(home, removed)
    with closing(Store.found(Settings(home=home))) as anew:
        add(anew, "new")
        assert other.add("after") == names(anew) == {"before", "new", "after"}
    assert names_after_a_crash(home, tmp_path / "crashed") == {"before", "new", "after"}


@REMOVED
def test_a_commit_is_there_though_its_log_lost_its_name_before_it(
    store: Store, home: Path, tmp_path: Path, removed: str
) -> None:
    with store.write() as tx:
        tx.tenants.add(Tenant("after", "after"))
        remove(home, removed)
    assert names_after_a_crash(home, tmp_path / "crashed") == names(store) == {"before", "after"}


def test_the_log_of_another_database_in_its_place_is_not_used(
    store: Store, home: Path, tmp_path: Path
) -> None:
    log = home / "easeml.db-wal"
    log.rename(tmp_path / "moved")
    log.write_bytes(b"another log")
    with pytest.raises(DatabaseAway, match="replaced"):
        add(store, "refused")
    log.unlink()  # as the error says
    add(store, "after")
    assert names_after_a_crash(home, tmp_path / "crashed") == names(store) == {"before", "after"}


def test_a_process_that_ends_while_open_files_are_looked_at_matters_to_nobody(
    store: Store, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.scandir

    def of_the_living(path: str | Path) -> Any:
        if str(path).startswith("/proc/"):
            raise ProcessLookupError(errno.ESRCH, "No such process", str(path))
        return plain(path)

    monkeypatch.setattr(os, "scandir", of_the_living)
    assert names_after_a_crash(home, tmp_path / "crashed") == {"before"}


def test_nothing_is_acknowledged_behind_the_gap_of_a_log_that_was_cut_off(
    other: Other, store: Store, home: Path, tmp_path: Path
) -> None:
    """Its pages are lost, and with them whatever is written behind them."""
    other.add("theirs")
    with pytest.raises(DatabaseAway, match="cut off"), store.write() as tx:
        tx.tenants.add(Tenant("mine", "mine"))
        os.truncate(home / "easeml.db-wal", 0)
    for _ in range(2):
        with pytest.raises(DatabaseAway, match="cut off"):
            other.add("refused")
        with pytest.raises(DatabaseAway, match="cut off"):
            add(store, "refused")
    with pytest.raises(DatabaseAway, match="cut off"), closing(Store.found(Settings(home=home))):
        pass
    assert names_after_a_crash(home, tmp_path / "crashed") == set()


def test_a_log_that_all_of_is_in_the_database_may_be_emptied(other: Other, store: Store) -> None:
    other.add("theirs")
    assert store.clean()
    assert other.add("more") == names(store) == {"before", "theirs", "more"}


def test_a_log_may_be_emptied_while_a_change_waits_for_its_turn(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = SqliteLog.check_begin

    def check_and_wait(log: SqliteLog, files: LogFiles, connection: Any) -> None:
        check(log, files, connection)
        monkeypatch.undo()
        with closing(Store.found(Settings(home=home))) as another:
            assert another.clean()

    monkeypatch.setattr(SqliteLog, "check_begin", check_and_wait)
    add(store, "after")
    assert names(store) == {"before", "after"}


def test_what_is_settled_is_there_without_its_log(store: Store, home: Path, tmp_path: Path) -> None:
    with store.read() as held:
        held.tenants.count()
        store.settle()
    (tmp_path / "alone").mkdir()
    subprocess.run(["cp", home / "easeml.db", tmp_path / "alone"], check=True)
    with closing(Store.found(Settings(home=tmp_path / "alone"))) as alone:
        assert names(alone) == {"before"}


def test_a_log_of_before_does_not_come_back(home: Path, tmp_path: Path) -> None:
    """Where SQLite removed it, as nobody was connected, others may have written since."""
    with closing(Store.found(Settings(home=home))) as first:
        add(first, "first")
        (home / ".easeml.db-wal").rename(tmp_path / "kept")
    (tmp_path / "kept").rename(home / ".easeml.db-wal")  # as where it was killed
    with closing(driver.connect(str(home / "easeml.db"))) as another_program:
        another_program.execute("DELETE FROM tenants")
        another_program.commit()
    with closing(Store.found(Settings(home=home))) as later:
        assert names(later) == set()
    assert not list(home.glob(".easeml.db*"))  # SQLite has removed its files, too


@REMOVED
def test_a_process_of_many_connections_and_one_that_waits_go_on(
    other: Other, store: Store, home: Path, tmp_path: Path, removed: str
) -> None:
    with closing(store.wakeup()) as wakeup:
        with store.read() as held, store.read(), store.read():  # three, two of which rest then
            held.tenants.count()
            remove(home, removed)
            assert names(store) == {"before"}
        add(store, "mine")
        assert other.add("theirs") >= {"before", "mine", "theirs"}
        shutil.rmtree(home / "easeml.db-notices")  # what no notice tells, SQLite does
        while wakeup.wait(0.0):
            pass
        other.add("untold")
        assert wakeup.wait(SECONDS)
    assert names_after_a_crash(home, tmp_path / "crashed") == names(store)


def test_another_database_in_the_place_of_one_that_was_removed_is_opened(
    store: Store, home: Path, fresh_database: Path
) -> None:
    shutil.rmtree(home)
    home.mkdir()
    shutil.copy(fresh_database, home / "easeml.db")
    with closing(Store.found(Settings(home=home))) as other:
        assert names(other) == set()
