"""Ten writing processes at once: nothing is locked out, lost, doubled or missed."""

import json
import subprocess
import sys
import threading
from collections import Counter

from easeml.store import Task

PROCESSES, TASKS = 10, 200

WRITER = """
import json, sys
from pathlib import Path
from easeml.store import Store

url, artefacts, name = sys.argv[1:]
store = Store.open(url, Path(artefacts))
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
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
print(json.dumps(claimed))
"""


def _start(url, artefacts):
    commands = [
        [sys.executable, "-c", WRITER, url, str(artefacts), f"p{n}"] for n in range(PROCESSES)
    ]
    return [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for command in commands
    ]


def test_ten_processes_open_claim_complete_and_tell_at_once(url, open_store, tmp_path):
    processes = _start(url, tmp_path / "artefacts")  # all ten create the database
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * PROCESSES
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
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * PROCESSES
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
