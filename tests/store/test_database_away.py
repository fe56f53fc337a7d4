"""A database that is locked, down or cut off is named, and used again as soon as it answers."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from easeml.errors import DatabaseAway, Unreachable
from easeml.store import Store, Tenant
from easeml.store import database as databases
from easeml.store.patience import PatientConnection
from easeml.store.sqlite import driver
from postgres_cluster import database


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Another program holds the writers' lock of a SQLite file."""
    other = driver.connect(str(sa.make_url(url).database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


@contextmanager
def down(url: str) -> Iterator[None]:
    """A PostgreSQL server cuts all connections to a database, and takes no new ones."""
    target = sa.make_url(url)
    server = sa.create_engine(target.set(database="postgres"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {target.database} ALLOW_CONNECTIONS false")
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        connection.exec_driver_sql(cut, (target.database,))
        try:
            yield
        finally:
            connection.exec_driver_sql(f"ALTER DATABASE {target.database} ALLOW_CONNECTIONS true")
    server.dispose()


@pytest.fixture
def away(url: str, monkeypatch: pytest.MonkeyPatch):
    """Takes the database away for the length of a block."""
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.05)
    return (lambda: locked(url)) if url.startswith("sqlite") else (lambda: down(url))


@contextmanager
def standing_still(template: str) -> Iterator[None]:
    """A PostgreSQL server keeps its connections, takes new ones, and answers nothing."""
    folder = Path(str(sa.make_url(template).query["host"]))
    server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    backends = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    all_processes = [server, *map(int, backends)]
    for process in all_processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in all_processes:
            os.kill(process, signal.SIGCONT)


def add_tenant(store: Store, name: str) -> None:
    with store.write() as tx:
        tx.tenants.add(Tenant(name, name))


def test_a_database_that_is_away_is_named_and_used_again(away, open_store):
    store = open_store()
    add_tenant(store, "before")
    with away():
        for _ in range(2):
            with pytest.raises(DatabaseAway, match="does not answer"):
                add_tenant(store, "meanwhile")
    add_tenant(store, "after")
    with store.read() as tx:
        names = {tenant.id for tenant in tx.tenants.list(limit=None)}
    assert names == {"before", "after"}


def test_a_connection_that_is_cut_within_a_transaction_leaves_nothing_of_it(away, url, open_store):
    if url.startswith("sqlite"):
        pytest.skip("SQLite has no connections that others can cut.")
    store = open_store()
    with pytest.raises(DatabaseAway), store.write() as tx:
        tx.tenants.add(Tenant("half", "half"))
        with away():
            tx.tenants.add(Tenant("other half", "other half"))
    with store.read() as tx:
        assert not tx.tenants.list(limit=None)


def test_a_connection_that_is_closed_already_is_named(url, open_store):
    store = open_store()
    if url.startswith("sqlite"):
        pytest.skip("SQLite has no connections that others can cut.")
    with pytest.raises(DatabaseAway), store.write() as tx:
        tx._session.connection.connection.driver_connection.close()
        tx.tenants.get("any")
    add_tenant(store, "after")


def test_a_server_that_became_a_standby_is_away(url, open_store):
    """It keeps the connections of those who wrote to it when it led."""
    if url.startswith("sqlite"):
        pytest.skip("SQLite has no standby.")
    store = open_store()
    with pytest.raises(DatabaseAway), store.write() as tx:
        tx._session.connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        tx.tenants.add(Tenant("half", "half"))
    add_tenant(store, "after")


@pytest.mark.postgres
def test_a_server_that_stands_still_is_not_waited_for_for_ever(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(PatientConnection, "silent_seconds", 0.2)
    monkeypatch.setitem(databases.PATIENCE, "connect_timeout", 2)  # psycopg's least
    with database(postgres) as url:
        store = Store.open(url, tmp_path / "artefacts")
        add_tenant(store, "before")
        with standing_still(postgres):
            with pytest.raises(DatabaseAway, match="does not answer"):  # the connection is dropped
                add_tenant(store, "meanwhile")
            with pytest.raises(DatabaseAway, match="does not answer"):  # and none is made
                add_tenant(store, "meanwhile")
        add_tenant(store, "after")
        with store.read() as tx:
            names = {tenant.id for tenant in tx.tenants.list(limit=None)}
        assert names == {"before", "after"}
        store.close()


@pytest.mark.postgres
def test_who_waits_longer_for_a_lock_than_may_be_lets_it_be(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(PatientConnection, "silent_seconds", 0.2)
    with database(postgres) as url:
        store = Store.open(url, tmp_path / "artefacts")
        with store.write() as tx:
            tx.tenants.add(Tenant("one", "one"))
            with pytest.raises(DatabaseAway):
                add_tenant(store, "one")  # waits to see whether the other commits
        with store.read() as tx:
            assert [tenant.id for tenant in tx.tenants.list(limit=None)] == ["one"]
        store.close()


def test_who_waits_for_commits_goes_on_after_a_database_that_was_away(away, url, open_store):
    store = open_store()
    wakeup = store.wakeup()
    with away():
        if not url.startswith("sqlite"):  # one that is locked is read as ever
            with pytest.raises(DatabaseAway):
                wakeup.wait(5)
    wakeup.wait(0.01)
    add_tenant(store, "after")
    assert wakeup.wait(5)
    wakeup.close()


def test_a_service_does_not_start_without_its_database(away, url, tmp_path: Path):
    if url.startswith("sqlite"):
        pytest.skip("A SQLite file that is locked can be opened.")
    with away(), pytest.raises(Unreachable, match="database cannot be opened"):
        Store.open(url, tmp_path / "artefacts")


def test_what_an_address_says_of_patience_counts(url):
    if url.startswith("sqlite"):
        pytest.skip("SQLite has no address of a server.")
    engine = databases.connect(f"{url}&options=-c%20idle_in_transaction_session_timeout%3D7000")
    with engine.connect() as connection:
        said = connection.exec_driver_sql("SHOW idle_in_transaction_session_timeout").scalar_one()
    engine.dispose()
    assert said == "7s"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://easeml:s3same@127.0.0.1:1/easeml",
        "postgresql://127.0.0.1:1/easeml?user=easeml&password=s3same",
    ],
)
def test_an_address_that_leads_nowhere_is_named_without_its_password(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(Unreachable) as told:
        Store.open(address, tmp_path)
    assert "***" in told.value.where
    assert "s3same" not in f"{told.value} {told.value.where}"
