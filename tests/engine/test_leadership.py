import pytest

from easeml.engine.leadership import Leadership
from easeml.errors import Fenced
from easeml.service.administration.readiness import SCHEDULER_LEASE


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
