import subprocess
import sys
import threading

import pytest

from easeml.store import Tenant, wakeups


@pytest.fixture(params=["as here", "as where no kernel tells of writes"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ways to hear of writes to SQLite's files."""
    if request.param != "as here":
        monkeypatch.setattr(wakeups, "watch_writes", lambda folder: wakeups.AssumedWrites())


def test_the_store_needs_nothing_that_only_linux_has():
    program = "import sys; sys.modules['inotify_simple'] = None; import easeml.store, easeml.engine"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_on_linux_the_kernel_tells_of_writes(tmp_path):
    writes = wakeups.NotedWrites(tmp_path)
    assert not writes.wait(0.01)
    (tmp_path / "file").write_text("new")
    assert writes.wait(10)
    writes.close()


@pytest.mark.usefixtures("system")
def test_a_commit_wakes_and_is_seen_once(store, open_store):
    wakeup = store.wakeup()
    assert not wakeup.wait(0.01)
    with open_store().write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
    assert wakeup.wait(10)
    assert not wakeup.wait(0.05)
    wakeup.close()


@pytest.mark.usefixtures("system")
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


@pytest.mark.usefixtures("system")
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
