"""Whoever pins is never overtaken by whoever unpins at the same time."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.models import promotion
from easeml.store import Store
from postgres_cluster import cluster, database

from .test_quotas import keys_of
from .test_story import searching, train

_PATIENCE = 20.0  # seconds
_WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@pytest.fixture
def url() -> Iterator[str]:
    with cluster() as template, database(template) as found:
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
