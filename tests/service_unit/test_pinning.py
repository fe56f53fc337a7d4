"""What two decide about one application at the same time: a pin and its end, labels to ask for."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from easeml.contract.states import WorkKind
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.answers import label_budget
from easeml.service.applications import applications
from easeml.service.models import promotion
from easeml.store import Store, Transaction
from easeml.store.records import WorkItem
from easeml.store.shapes import LabelLimit, WorkQuestion
from postgres_cluster import cluster, database

from .test_quotas import keys_of
from .test_story import searching, train

_PATIENCE = 20.0  # seconds
_WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@pytest.fixture(scope="module")
def template() -> Iterator[str]:
    with cluster() as found:
        yield found


@pytest.fixture
def url(template: str) -> Iterator[str]:
    with database(template) as found:
        yield found


@pytest.fixture
def postgres(url: str, tmp_path: Path) -> Iterator[Store]:
    store = Store.open(url, tmp_path / "kept")
    yield store
    store.close()


def wait_until_it_waits_or_ends(asked: Future[Any], url: str) -> None:
    """Return when a transaction waits for another one, or the call has come back."""
    engine = sa.create_engine(url)
    until = time.monotonic() + _PATIENCE
    with engine.connect() as connection:
        while not asked.done() and not connection.scalar(sa.text(_WAITS)):
            connection.rollback()
            assert time.monotonic() < until
            time.sleep(0.01)
    engine.dispose()


@pytest.mark.postgres
def test_a_pin_beside_an_unpin_that_has_not_ended_holds(postgres: Store, url: str) -> None:
    """What is decided on a row that another changes is decided on what becomes of it."""
    caller: Caller = keys_of(postgres)
    found = searching(postgres, caller)
    train(postgres, found, 0, 0.8)
    applications.pin(postgres, caller, found.id)
    with ThreadPoolExecutor(1) as beside:
        with postgres.write() as tx:
            application = tx.unscoped().applications.get(found.id)
            promotion.set_pinned(tx, application, pinned=False)
            asked = beside.submit(applications.pin, postgres, caller, found.id)
            wait_until_it_waits_or_ends(asked, url)
        assert asked.result(_PATIENCE).pinned
    assert applications.get(postgres, caller, found.id).pinned


@pytest.mark.postgres
def test_two_that_ask_at_once_do_not_both_take_the_last_labels(postgres: Store, url: str) -> None:
    caller: Caller = keys_of(postgres)
    found = searching(postgres, caller)
    with postgres.write() as tx:
        tx.unscoped().applications.update(found.id, label_budget=LabelLimit(5, 30.0))

    def ask() -> int:
        with postgres.write() as tx:
            return ask_for_labels(tx, found.id, WorkKind.PICK_LABEL)

    with ThreadPoolExecutor(1) as beside:
        with postgres.write() as tx:
            by_gate = ask_for_labels(tx, found.id, WorkKind.TEST_LABEL)
            asked = beside.submit(ask)
            wait_until_it_waits_or_ends(asked, url)
        assert (by_gate, asked.result(_PATIENCE)) == (5, 0)


def ask_for_labels(tx: Transaction, application_id: str, kind: WorkKind) -> int:
    """Ask for as many labels as the budget lets; return their number."""
    application = tx.unscoped().applications.get(application_id)
    tables = tx.scoped(application.tenant_id)
    count = label_budget.within(tables, application, kind, tx.now(), own=100)
    for row in range(count):
        tables.work_items.add(
            WorkItem(
                id=new_id("item"),
                tenant_id=application.tenant_id,
                application_id=application.id,
                version_id=application.version_id,
                kind=kind,
                row=row,
                column="kind",
                information=0.0,
                question=WorkQuestion(values={}, source="gate"),
            )
        )
    return count
