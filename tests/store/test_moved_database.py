"""The file of a database is moved, removed or replaced under a service that runs."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from easeml.errors import DatabaseAway, NotFound
from easeml.settings import Settings
from easeml.store import Store, Tenant


@pytest.fixture
def settings(tmp_path: Path, fresh_database: Path) -> Settings:
    shutil.copy(fresh_database, tmp_path / "easeml.db")
    return Settings(home=tmp_path)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = Store.found(settings)
    add(opened, "before")
    yield opened
    opened.close()


def add(store: Store, name: str) -> None:
    with store.write() as tx:
        tx.tenants.add(Tenant(name, name))


def check_is_away(store: Store) -> None:
    """Neither what is read nor what is written comes from a file, or goes to one, without a name."""
    with pytest.raises(DatabaseAway, match="moved, removed or replaced"):
        add(store, "lost")
    with pytest.raises(DatabaseAway, match="put it back"), store.read() as tx:
        tx.tenants.count()


def test_nothing_is_acknowledged_while_the_file_is_gone_and_all_is_there_when_it_is_back(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "easeml.db"
    kept = path.rename(tmp_path / "kept.db")
    check_is_away(store)
    kept.rename(path)
    add(store, "after")
    with store.read() as tx:
        assert {"before", "after"} <= set(tx.tenants.column("id"))


def test_no_file_is_made_in_its_place_so_that_its_log_stays(store: Store, tmp_path: Path) -> None:
    """SQLite makes the file that it opens, and removes the log of one that is empty."""
    path, log = tmp_path / "easeml.db", tmp_path / "easeml.db-wal"
    with store.read() as held:
        held.tenants.count()
        before = log.stat().st_ino
        kept = path.rename(tmp_path / "kept.db")
        with pytest.raises(DatabaseAway), store.read() as tx:  # on another connection
            tx.tenants.count()
        with pytest.raises(DatabaseAway):
            store.wakeup()
        assert not path.exists()
        assert log.stat().st_ino == before
        kept.rename(path)
    add(store, "after")
    with closing(Store.found(Settings(home=tmp_path))) as anew, anew.read() as tx:
        assert "after" in tx.tenants.column("id")


def test_another_file_in_its_place_is_not_the_database(
    store: Store, tmp_path: Path, fresh_database: Path
) -> None:
    path = tmp_path / "easeml.db"
    path.rename(tmp_path / "kept.db")
    shutil.copy(fresh_database, path)
    check_is_away(store)


def test_a_process_that_starts_meanwhile_makes_no_new_one(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "easeml.db"
    path.unlink()
    with pytest.raises(NotFound, match="no database"):
        Store.found(settings)
    assert not path.exists()
