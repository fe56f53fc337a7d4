import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeml.engine.leadership import Leadership
from easeml.engine.scheduler import Scheduler
from easeml.errors import Fenced
from easeml.modules import load_registry
from easeml.search import policy_named
from easeml.service.administration.readiness import SCHEDULER_LEASE
from easeml.store import Store


def test_an_old_leader_writes_nothing_and_knows_it_then(store):
    old, new = Leadership(store, "old", 10.0), Leadership(store, "new", 10.0)
    assert old.take()
    assert not new.take()
    with store.write() as tx:
        tx.leases.release(SCHEDULER_LEASE, "old")  # as if it were over
    assert new.take()
    assert old.is_held, "nobody has told it yet"

    with pytest.raises(Fenced), old.write() as tx:
        pytest.fail(f"an old leader got a transaction: {tx}")

    assert not old.is_held
    assert not old.take()
    with new.write() as tx:
        assert tx.leases.is_held(SCHEDULER_LEASE)


def test_what_a_leader_wrote_is_undone_where_its_work_fails(store):
    leader = Leadership(store, "one", 10.0)
    assert leader.take()

    with pytest.raises(ZeroDivisionError), leader.write() as tx:
        tx.leases.acquire("other", "one", 10.0)
        raise ZeroDivisionError

    assert leader.is_held
    with store.read() as tx:
        assert not tx.leases.is_held("other")


def test_a_leader_that_steps_down_leaves_the_lease_to_the_next(store):
    first, second = Leadership(store, "first", 10.0), Leadership(store, "second", 10.0)
    assert first.take()
    first.release()
    assert not first.is_held
    assert second.take()
    assert second.epoch == 2


class _Clock:
    """One clock for the database and for the machine."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    made = _Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


@pytest.fixture
def timed(tmp_path: Path, clock: _Clock) -> Iterator[Store]:
    opened = Store.open(f"sqlite:///{tmp_path / 'timed.db'}", tmp_path / "kept", clock=clock)
    yield opened
    opened.close()


def test_a_step_that_takes_long_keeps_the_lead(timed: Store, clock: _Clock) -> None:
    leader, standby = Leadership(timed, "one", 10.0), Leadership(timed, "two", 10.0)
    assert leader.take()
    for _ in range(5):
        clock.now += 6.0
        leader.keep()
        assert not standby.take()
    clock.now += 11.0
    assert standby.take()
    with pytest.raises(Fenced):
        leader.keep()


def test_a_lead_that_was_lost_and_came_back_is_another(timed: Store, clock: _Clock) -> None:
    """What the leader knows may be out of date: it has to begin anew."""
    leader, standby = Leadership(timed, "one", 10.0), Leadership(timed, "two", 10.0)
    assert leader.take()
    clock.now += 11.0
    assert standby.take()
    clock.now += 11.0
    with pytest.raises(Fenced):
        leader.keep()


def test_searches_that_take_long_to_read_do_not_cost_the_lead(
    timed: Store, clock: _Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two schedulers took the lead from each other for ever, and neither came to decide."""
    scheduler = Scheduler(timed, load_registry(), policy_named(), 10.0)
    standby = Leadership(timed, "two", 10.0)
    led: list[bool] = []

    def slowly(_job_id: str) -> None:
        clock.now += 4.0
        led.append(standby.take())

    monkeypatch.setattr(scheduler, "_changes", lambda: (list("abcdef"), []))
    monkeypatch.setattr(scheduler, "_sync", slowly)
    scheduler.step()
    assert led == [False] * 6
