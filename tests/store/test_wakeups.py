import threading

from easeml.store import Tenant


def test_a_commit_wakes_and_is_seen_once(store, open_store):
    wakeup = store.wakeup()
    assert not wakeup.wait(0.01)
    with open_store().write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
    assert wakeup.wait(10)
    assert not wakeup.wait(0.05)
    wakeup.close()


def test_nothing_written_wakes_nobody(store):
    wakeup = store.wakeup()
    with store.write() as tx:
        tx.queue.claim("p1", "search", 10)
        tx.queue.reap()
    try:
        with store.write() as tx:
            tx.tenants.add(Tenant("t1", "one"))
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert not wakeup.wait(0.05)
    wakeup.close()


def test_a_waiting_thread_is_woken(store):
    wakeup = store.wakeup()
    heard: list[bool] = []
    waiter = threading.Thread(target=lambda: heard.append(wakeup.wait(30)))
    waiter.start()
    with store.write() as tx:
        tx.events.append("x", "y", {}, "t1")
    waiter.join(30)
    assert heard == [True]
    wakeup.close()
