import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeml.store import Store, Tenant, wait_for_group, wakeups
from easeml.store.notices import NoNotices, NoticeBoard, ToldNotices


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Store]:
    """A store on SQLite, whatever database others are tried on."""
    opened = Store.open(f"sqlite:///{tmp_path / 'easeml.db'}", tmp_path / "artefacts")
    yield opened
    opened.close()


@pytest.fixture
def board(sqlite: Store) -> NoticeBoard:
    """Where its notices are given."""
    return NoticeBoard(sqlite._engine)  # pyright: ignore[reportPrivateUsage]


@pytest.fixture(params=["as here", "as where no kernel tells of notices"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ways to hear of commits to SQLite."""
    if request.param != "as here":
        monkeypatch.setattr(wakeups, "watch_notices", lambda folder, words: NoNotices())


def test_the_store_needs_nothing_that_only_linux_has():
    program = "import sys; sys.modules['inotify_simple'] = None; import easeml.store, easeml.engine"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_on_linux_the_kernel_tells_of_notices(board):
    notices = ToldNotices(board.folder, {"search", "room"})
    assert not notices.wait(0.01)
    board.tell(["search", "room"])
    board.tell(["room"])
    assert notices.wait(10) == {"search", "room"}
    assert not notices.wait(0.01)
    notices.close()


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_other_words_do_not_wake_who_waits(board):
    notices = ToldNotices(board.folder, {"room"})
    board.tell(["search", "commit"])
    reads = notices._notices.read(timeout=10)  # pyright: ignore[reportPrivateUsage]
    assert reads == []
    board.tell(["room"])
    assert notices.wait(10) == {"room"}
    notices.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody is told")
def test_who_waits_asks_the_database_only_about_commits(sqlite, monkeypatch):
    looks: list[object] = []
    ask = wakeups.SqliteWords._version  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(
        wakeups.SqliteWords, "_version", lambda words: looks.append(words) or ask(words)
    )
    wakeup = sqlite.wakeup()
    looks.clear()
    for number in range(10):
        with sqlite.write() as tx:
            tx.tenants.add(Tenant(f"t{number}", f"tenant {number}"))
        assert wakeup.wait(10)
    assert len(looks) <= 20
    wakeup.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody is told")
@pytest.mark.parametrize("kind", ["wakeup", "work_wakeup"])
def test_a_commit_whose_writer_told_nobody_is_found_a_little_later(sqlite, monkeypatch, kind):
    waiter = getattr(sqlite, kind)()
    monkeypatch.setattr(NoticeBoard, "tell", lambda board, words: None)  # as if it were killed
    with sqlite.write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
    assert waiter.wait(10)
    assert not waiter.wait(0.01)
    waiter.close()


def test_a_commit_holds_where_no_notice_can_be_given(sqlite, board):
    for file in board.folder.iterdir():
        file.unlink()
    board.folder.rmdir()
    board.folder.write_text("in the way")
    with sqlite.write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
    with sqlite.read() as tx:
        assert tx.tenants.get("t1").name == "one"
    wakeup = sqlite.wakeup()
    with sqlite.write() as tx:
        tx.tenants.add(Tenant("t2", "two"))
    assert wakeup.wait(10)
    wakeup.close()


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


def test_who_waits_for_a_group_of_commits_is_told_of_it_once(sqlite, monkeypatch):
    wakeup = sqlite.wakeup()
    names = iter("bc")

    def pause(seconds: float) -> None:
        for name in names:  # commits that follow the first
            with sqlite.write() as tx:
                tx.tenants.add(Tenant(name, name))

    with sqlite.write() as tx:
        tx.tenants.add(Tenant("a", "a"))
    monkeypatch.setattr(wakeups.time, "sleep", pause)
    assert wait_for_group(wakeup, 10)
    assert not wait_for_group(wakeup, 0.01)
    wakeup.close()
