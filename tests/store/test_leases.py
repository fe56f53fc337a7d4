import pytest

from easeml.errors import Fenced


def _acquire(store, holder):
    with store.write() as tx:
        return tx.leases.acquire("scheduler", holder, 10.0)


def test_one_holder_at_a_time_and_epochs_grow_with_changes(store, clock):
    assert _acquire(store, "a").epoch == 1
    assert _acquire(store, "b") is None
    clock.now += 9
    renewed = _acquire(store, "a")
    assert (renewed.epoch, renewed.expires) == (1, clock.now + 10)
    clock.now += 9
    assert _acquire(store, "b") is None
    clock.now += 1
    taken = _acquire(store, "b")
    assert (taken.holder, taken.epoch) == ("b", 2)
    assert _acquire(store, "a") is None


def test_an_old_holder_is_fenced(store, clock):
    first = _acquire(store, "a")
    with store.write() as tx:
        tx.leases.check("scheduler", "a", first.epoch)
    clock.now += 11
    second = _acquire(store, "b")
    with store.write() as tx:
        tx.leases.check("scheduler", "b", second.epoch)
        for holder, epoch in (("a", first.epoch), ("b", first.epoch), ("a", second.epoch)):
            with pytest.raises(Fenced):
                tx.leases.check("scheduler", holder, epoch)
        with pytest.raises(Fenced):
            tx.leases.check("other", "b", 1)


def test_a_released_lease_is_free_at_once_and_its_epoch_is_over(store):
    first = _acquire(store, "a")
    with store.write() as tx:
        tx.leases.release("scheduler", "b")
    assert _acquire(store, "b") is None
    with store.write() as tx:
        tx.leases.release("scheduler", "a")
        with pytest.raises(Fenced):
            tx.leases.check("scheduler", "a", first.epoch)
    assert _acquire(store, "a").epoch == first.epoch + 1


def test_renewing_at_once_writes_nothing(store):
    _acquire(store, "a")
    wakeup = store.wakeup()
    _acquire(store, "a")
    assert not wakeup.wait(0.05)
    wakeup.close()


def test_a_lease_from_before_the_clock_was_set_back_is_free(store, clock):
    with store.write() as tx:
        old = tx.leases.acquire("scheduler", "dead", 10)
    clock.now -= 3600
    with store.write() as tx:
        new = tx.leases.acquire("scheduler", "next", 10)
        assert tx.leases.acquire("scheduler", "third", 10) is None
    assert (new.holder, new.epoch) == ("next", old.epoch + 1)
    assert new.expires == clock.now + 10
    with pytest.raises(Fenced), store.write() as tx:
        tx.leases.check("scheduler", "dead", old.epoch)
