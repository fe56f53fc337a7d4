"""Ten writing processes at once: nothing is locked out, lost, doubled or missed."""

import json
import subprocess
import sys
import threading
from collections import Counter

import pytest

from easeml.store import Task

PROCESSES, TASKS = 10, 200

WRITERS = """
import json, os, sys, traceback
from pathlib import Path
from easeml.store import Store

url, artefacts, count = sys.argv[1:]


def work(name):
    store = Store.open(url, Path(artefacts))
    os.write(1, b"ready\\n")
    os.read(0, 1)
    claimed = []
    while True:
        with store.write() as tx:
            found = tx.queue.claim(name, "search", 60)
        if found is None:
            break
        task, attempt = found
        claimed.append(task.id)
        with store.write() as tx:
            tx.queue.complete(attempt, result={"by": name}, quality=0.5, cost=1.0)
            tx.events.append("task.done", task.id, {"by": name}, "t1")
    os.write(1, json.dumps(claimed).encode() + b"\\n")


children = []
for number in range(int(count)):
    child = os.fork()
    if child == 0:
        try:
            work(f"p{number}")
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    children.append(child)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""
"""Ten processes, forked from one that has imported what they need, and has opened nothing."""


@pytest.fixture
def has_tables() -> bool:
    return False


def test_ten_processes_open_claim_complete_and_tell_at_once(url, open_store, tmp_path):
    command = [sys.executable, "-c", WRITERS, url, str(tmp_path / "artefacts"), str(PROCESSES)]
    writers = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # All ten create the database.
    assert [writers.stdout.readline() for _ in range(PROCESSES)] == ["ready\n"] * PROCESSES
    store = open_store()
    with store.write() as tx:
        tx.scoped("t1").tasks.add_all(
            [Task(f"tsk_{n:04}", "t1", "train", "search", {}) for n in range(TASKS)]
        )

    seen: list[int] = []
    over = threading.Event()

    def read_events() -> None:
        wakeup = store.wakeup()
        last = 0
        while len(seen) < TASKS and not over.is_set():
            wakeup.wait(1)
            with store.read() as tx:
                events = tx.events.after(last, limit=7)
                while events:
                    seen.extend(event.seq for event in events)
                    last = events[-1].seq
                    events = tx.events.after(last, limit=7)
        wakeup.close()

    reader = threading.Thread(target=read_events)
    reader.start()
    outputs = writers.communicate("g" * PROCESSES, timeout=120)[0].splitlines()
    assert writers.returncode == 0
    assert len(outputs) == PROCESSES
    over_wait = threading.Timer(20, over.set)
    over_wait.start()
    reader.join()
    over_wait.cancel()

    claims = Counter(task for output in outputs for task in json.loads(output))
    with store.read() as tx:
        done = tx.scoped("t1").tasks.list(limit=None, state="done")
        events = tx.events.after(0)
        assert tx.scoped("t1").attempts.count(state="done") == TASKS
    assert claims == Counter(task.id for task in done)
    assert len(done) == TASKS
    assert sorted(event.subject for event in events) == [task.id for task in done]
    assert {task.id: task.result["by"] for task in done} == {
        event.subject: event.data["by"] for event in events
    }
    assert seen == [event.seq for event in events]  # in order, none missed
