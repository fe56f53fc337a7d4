"""A dataset from elsewhere: a task fetches it, another reads it, and no record holds a secret."""

import sqlite3
from pathlib import Path

import pytest
from warm_bodies import WARM

from easeml.contract.sources import NewOrigin
from easeml.contract.states import Lane, ProcessKind
from easeml.contract.tasks import Limits
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor
from easeml.engine.membership import register
from easeml.engine.slot import Slot, SlotContext
from easeml.errors import NotAllowed, TooMany
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.datasets import datasets
from easeml.service.sources import adding
from easeml.service.tasks import steering
from easeml.settings import Settings
from easeml.store import Store, shapes
from easeml.store.records import Tenant

LIMITS = Limits(seconds=60, memory=2**30, threads=1)
_QUESTION = "SELECT a, y FROM rows"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a connection to a small database, for one tenant."""
    path = tmp_path / "hush.db"
    with sqlite3.connect(path) as link:
        link.execute("CREATE TABLE rows (a, y)")
        link.executemany("INSERT INTO rows VALUES (?, ?)", [(i, "up") for i in range(20)])
    link.close()
    text = f'[lab]\nurl = "sqlite://{path}"\ntenants = ["physics"]\n'
    (tmp_path / "connections.toml").write_text(text)
    return tmp_path


def _caller(store: Store, name: str, limits: shapes.TenantLimits | None = None) -> Caller:
    tenant = Tenant(new_id("ten"), name, limits=limits or shapes.TenantLimits())
    with store.write() as tx:
        tx.tenants.add(tenant)
    return Caller("usr_1", tenant.id)


def _run(store: Store, settings: Settings, steps: int) -> None:
    executor = LocalExecutor(LIMITS, task_main.run, preload=WARM)
    try:
        process = register(store, ProcessKind.WORKER)
        folder = settings.home / "work"
        context = SlotContext(store, executor, LIMITS, process.id, folder, 10.0, settings=settings)
        for _ in range(steps):
            Slot(Lane.SHORT, context).step()
    finally:
        executor.close()


def test_rows_are_fetched_and_read_and_the_connection_is_written_nowhere(store, home):
    settings, caller = Settings(home=home), _caller(store, "physics")
    wish = NewOrigin(address="sqlite://lab", query=_QUESTION)
    made = adding.add_origin(store, settings, caller, wish)
    _run(store, settings, 2)
    version = datasets.get_version(store, caller, made.version.id)
    assert (version.state, version.summary["rows"]) == ("ready", 20)
    origin = version.operation["origin"]
    assert (origin["address"], origin["query"]) == ("sqlite://lab", _QUESTION)
    assert len(origin["digest"]) == 64
    with store.read() as tx:
        tables = tx.unscoped()
        kept = [tables.tasks.list(), tables.versions.list(), tables.attempts.list()]
        events = tx.events.after(0, limit=100)
    assert "hush" not in repr([kept, events])
    assert not list((home / "work").rglob(task_main.GRANT))


def test_another_tenant_is_not_told_that_there_is_a_connection(store, home):
    settings, caller = Settings(home=home), _caller(store, "biology")
    for name in ("lab", "none"):
        wish = NewOrigin(address=f"sqlite://{name}", query=_QUESTION)
        with pytest.raises(NotAllowed, match="no connection"):
            adding.add_origin(store, settings, caller, wish)


def test_a_connection_that_is_taken_away_meanwhile_is_not_used(store, home):
    settings, caller = Settings(home=home), _caller(store, "physics")
    wish = NewOrigin(address="sqlite://lab", query=_QUESTION)
    made = adding.add_origin(store, settings, caller, wish)
    (home / "connections.toml").unlink()
    _run(store, settings, 1)
    version = datasets.get_version(store, caller, made.version.id)
    assert version.state == "failed"
    assert "no connection" in version.error


def test_no_more_comes_than_the_tenant_may_store(store, home):
    settings = Settings(home=home)
    caller = _caller(store, "physics", shapes.TenantLimits(storage=50))
    wish = NewOrigin(address="sqlite://lab", query=_QUESTION)
    made = adding.add_origin(store, settings, caller, wish)
    _run(store, settings, 1)
    version = datasets.get_version(store, caller, made.version.id)
    assert version.state == "failed"
    assert "50 bytes" in version.error


def test_fetches_of_a_tenant_are_few_and_can_be_cancelled(store, home):
    settings, caller = Settings(home=home), _caller(store, "physics")
    wish = NewOrigin(address="https://host.example/rows.csv")
    made = [adding.add_origin(store, settings, caller, wish) for _ in range(5)]
    with pytest.raises(TooMany):
        adding.add_origin(store, settings, caller, wish)
    with store.read() as tx:
        task = tx.unscoped().tasks.find(subject=made[0].version.id)
    assert task is not None
    steering.cancel(store, caller, task.id)
    version = datasets.get_version(store, caller, made[0].version.id)
    assert version.state == "failed"
    adding.add_origin(store, settings, caller, wish)
