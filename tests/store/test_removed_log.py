"""The log of a SQLite database (``-wal``, and its index ``-shm``) is removed under a running service."""

import multiprocessing
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from easeml.errors import DatabaseAway
from easeml.settings import Settings
from easeml.store import Store, Tenant, Wakeup

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
def test_who_starts_meanwhile_waits_until_the_changes_are_in_the_file(
    other: Other, home: Path, tmp_path: Path, removed: str
) -> None:
    other.add("before")
    remove(home, removed)
    with pytest.raises(DatabaseAway, match="log of the database"):
        Store.found(Settings(home=home))
    other.add("after")
    with closing(Store.found(Settings(home=home))) as anew:
        assert names(anew) >= {"before", "after"}
        add(anew, "new")
        assert other.add("last") == names(anew)
    assert names_after_a_crash(home, tmp_path / "crashed") >= {"before", "after", "new", "last"}


@REMOVED
def test_a_commit_into_a_log_without_a_name_is_not_acknowledged(
    store: Store, home: Path, tmp_path: Path, removed: str
) -> None:
    with pytest.raises(DatabaseAway, match="log of the database"), store.write() as tx:
        tx.tenants.add(Tenant("lost", "lost"))
        remove(home, removed)
    add(store, "after")
    assert "lost" not in names(store)
    assert names_after_a_crash(home, tmp_path / "crashed") == names(store)


def test_the_log_of_another_database_in_its_place_is_not_used(
    store: Store, home: Path, tmp_path: Path
) -> None:
    (home / "easeml.db-wal").rename(tmp_path / "moved")
    (home / "easeml.db-wal").write_bytes(b"another log")
    with pytest.raises(DatabaseAway, match="replaced"):
        add(store, "refused")
    add(store, "after")  # the connection has ended, and SQLite has written its changes
    assert names(store) >= {"before", "after"}
    assert names_after_a_crash(home, tmp_path / "crashed") == names(store)


def test_a_log_that_was_moved_is_missed_as_well(other: Other, home: Path, tmp_path: Path) -> None:
    other.add("before")
    (home / "easeml.db-wal").rename(tmp_path / "easeml.db-wal.old")
    with pytest.raises(DatabaseAway, match="log of the database"):
        Store.found(Settings(home=home))
    other.add("after")
    with closing(Store.found(Settings(home=home))) as anew:
        assert names(anew) >= {"before", "after"}


@REMOVED
def test_a_process_of_many_connections_goes_on_with_the_others(
    other: Other, store: Store, home: Path, tmp_path: Path, removed: str
) -> None:
    """Connections of a process share one index: all have to leave one that has no name."""
    with closing(store.wakeup()) as wakeup:
        with store.read() as held, store.read(), store.read():  # three, two of which rest then
            held.tenants.count()
            remove(home, removed)
            with suppress(DatabaseAway):  # as long as somebody reads from the log
                names(store)
        add_when_possible(store, "mine", wakeup)
        assert other.add("theirs") >= {"before", "mine", "theirs"}
        shutil.rmtree(home / "easeml.db-notices")  # what no notice tells, SQLite does
        while wakeup.wait(0.0):
            pass
        other.add("untold")
        assert wakeup.wait(SECONDS)
    with closing(Store.found(Settings(home=home))) as anew:
        assert names(anew) == names(store) >= {"mine", "theirs", "untold"}
    assert names_after_a_crash(home, tmp_path / "crashed") == names(store)


def add_when_possible(store: Store, name: str, wakeup: Wakeup) -> None:
    """Add a name as soon as what waits in this process has looked at its log."""
    for _ in range(100):
        with suppress(DatabaseAway):
            return add(store, name)
        wakeup.wait(0.1)
    return add(store, name)


def test_another_database_in_the_place_of_one_that_was_removed_is_opened(
    store: Store, home: Path, fresh_database: Path
) -> None:
    shutil.rmtree(home)
    home.mkdir()
    shutil.copy(fresh_database, home / "easeml.db")
    with closing(Store.found(Settings(home=home))) as other:
        assert names(other) == set()


def test_who_connects_waits_for_those_who_close(home: Path) -> None:
    index = home / "easeml.db-shm"
    index.touch()
    with (home / "easeml.db").open("rb") as database, index.open("rb") as closing_one:
        index.unlink()
        closes = threading.Timer(0.2, lambda: (closing_one.close(), database.close()))
        closes.start()
        with closing(Store.found(Settings(home=home))) as opened:
            assert names(opened) == set()
        closes.join()
