import threading

from easeml.store import Tenant


def _tell(store, *subjects, tenant="t1"):
    with store.write() as tx:
        for subject in subjects:
            tx.events.append("task.done", subject, {"quality": 0.5}, tenant)


def test_events_are_numbered_in_order_and_read_from_a_cursor(store, clock):
    _tell(store, "a", "b")
    _tell(store, "c", tenant="t2")
    _tell(store, "d")
    with store.read() as tx:
        events = tx.events.after(0)
        assert [event.subject for event in events] == ["a", "b", "c", "d"]
        assert [event.seq for event in events] == sorted({event.seq for event in events})
        assert tx.events.last() == events[-1].seq
        assert [event.subject for event in tx.events.after(events[1].seq)] == ["c", "d"]
        assert [event.subject for event in tx.events.after(0, tenant_id="t1", limit=2)] == [
            "a",
            "b",
        ]
        assert [event.subject for event in tx.events.after(0, tenant_id="t2")] == ["c"]
    first = events[0]
    assert (first.kind, first.data, first.tenant_id, first.created) == (
        "task.done",
        {"quality": 0.5},
        "t1",
        clock.now,
    )


def test_a_transaction_reads_its_own_events(store):
    with store.write() as tx:
        tx.events.append("x", "a", {}, "t1")
        assert tx.events.last() == 1
        assert [event.subject for event in tx.events.after(0)] == ["a"]
    with store.read() as tx:
        assert tx.events.last() == 1


def test_a_slow_transaction_cannot_slip_an_event_behind_a_reader(store):
    """An event numbered first but committed last would be skipped by a reader that has seen the
    second.
    """
    told, seen = threading.Event(), []

    def other() -> None:
        told.wait(30)
        _tell(store, "fast")

    thread = threading.Thread(target=other)
    thread.start()
    with store.write() as tx:
        tx.events.append("x", "slow", {}, "t1")
        assert tx.events.last()  # numbered, not committed
        told.set()
        tx.tenants.add(Tenant("t1", "one"))
        with store.read() as reader:
            seen += reader.events.after(0)
    thread.join(30)
    with store.read() as reader:
        last = seen[-1].seq if seen else 0
        assert [event.subject for event in seen + reader.events.after(last)] == ["slow", "fast"]


def test_the_newest_event_about_a_subject(store):
    _tell(store, "a", "b", "a", "b")
    _tell(store, "a", tenant="t2")
    with store.read() as tx:
        events = tx.events.after(0, tenant_id="t1")
        assert tx.events.newest_about("a", "t1", ["task.done"]) == events[2]
        assert tx.events.newest_about("a", "t1", ["task.failed"]) is None
        assert tx.events.newest_about("c", "t1", ["task.done"]) is None
