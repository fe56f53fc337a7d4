"""What it costs that the order of questions follows an answer, in a live application.

A table of 100,000 rows (8 numbers, 2 texts; a fifth without a label, a twentieth of the labels
wrong, cells that slipped by two decimals) is declared at a service of its own, whose search is
stopped. Somebody takes the first item, answers, takes the next, and so on. Then:

- *an answer*: from the request with an answer until the next item is there, chosen by what all
  answers so far say; seconds, and what the controller used;
- *anew*: the same by a version with the answers, in which work is looked for: seconds, and what
  the tasks used, each by its kind;
- *study*: what the study of the best that any model can reach used, which holds after the answers
  (``held``) and is not made again.

Before the version is made, the controller is killed (SIGKILL); the order has to be the same.

    python benchmarks/answers_live.py
    python benchmarks/answers_live.py --rows 1000 --answers 5
"""

import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options
from easeml.client import Client
from service_process import EasemlProcess

SEED = 0
LOOK_EVERY = 0.2  # seconds
GOAL = "accuracy >= 0.7"
STUDY = "Is the goal realistic?"


def dirty_table(rows: int) -> pd.DataFrame:
    """Return a table whose ``level`` follows from two of its numbers, with faults."""
    rng = np.random.default_rng(SEED)
    frame = pd.DataFrame({f"c{place}": rng.normal(size=rows).round(3) for place in range(8)})
    frame["shop"] = rng.choice([f"shop {number}" for number in range(12)], rows)
    frame["way"] = rng.choice(["card", "cash", "transfer"], rows)
    noise = rng.normal(size=rows) / 2
    labels = np.where(frame["c0"] + frame["c1"] / 2 + noise > 0, "high", "low").astype(object)
    wrong = rng.random(rows) < 0.05
    labels[wrong] = np.where(labels[wrong] == "high", "low", "high")
    labels[rng.random(rows) < 0.2] = None
    frame["level"] = labels
    slipped = rng.random(rows) < 0.001
    frame.loc[slipped, "c0"] *= 100
    return frame


def declared(service: EasemlProcess, folder: Path, rows: int) -> str:
    """Declare the table, stop its search, and have work looked for; return the application's id."""
    path = folder / "dirty.csv"
    dirty_table(rows).to_csv(path, index=False)
    made = service.command("app", "create", str(path), "--target", "level", "--yes", "--json")
    application = json.loads(made)["id"]
    service.stop_searches()
    service.command("app", "goal", application, GOAL)
    with Client(service.url, service.key) as client:
        wait_for_first_item(client, application)
        version = client.application(application).version_id
    while STUDY not in cpu_of_tasks(service, version):
        time.sleep(LOOK_EVERY)
    return application


def wait_for_first_item(client: Client, application: str) -> None:
    """Have work looked for, once the data is prepared, and wait until there is some."""
    turn = client.next_work(application)
    while turn.item is None:
        client.wait_task(turn.task_id)
        turn = client.next_work(application)


def wait_for_items(client: Client, application: str) -> None:
    """Wait until nothing looks for work any more, and there is some."""
    while True:
        queue = client.work(application)
        if not queue.looking and queue.items:
            return
        time.sleep(LOOK_EVERY)


def answered(client: Client, application: str, answers: int, process: int) -> dict[str, float]:
    """Answer items one after another; return medians of seconds, and the controller's CPU each."""
    item = client.next_work(application).item
    walls: list[float] = []
    began = cpu_of(process)
    for _ in range(answers):
        assert item is not None
        likeliest = item.options[0].value if item.options else item.choices[0]
        started = time.perf_counter()
        client.answer_work(item.id, value=likeliest, way="answer", seconds=5.0)
        item = client.next_work(application).item
        walls.append(time.perf_counter() - started)
    used = (cpu_of(process) - began) / answers
    return {"seconds": float(np.median(walls)), "slowest": max(walls), "cpu": used}


def check_survives(client: Client, service: EasemlProcess, application: str) -> None:
    """Kill the controller, and compare what each item should bring before and after."""
    before = {item.id: item.information for item in client.work(application).items}
    service.kill("controller")
    service.wait_until_answering()
    after = {item.id: item.information for item in client.work(application).items}
    assert after == before, "the order is another one after a kill"


def anew(client: Client, service: EasemlProcess, application: str) -> dict[str, Any]:
    """Make a version of the answers and look for work in it: seconds, and CPU by kind of task."""
    started = time.perf_counter()
    version = client.use_answers(application)
    while client.version(version.id).state == "ingesting":
        time.sleep(LOOK_EVERY)
    wait_for_items(client, application)
    seconds = time.perf_counter() - started
    used = cpu_of_tasks(service, version.id)
    return {"seconds": seconds, "cpu": sum(used.values()), "tasks": used}


def cpu_of_tasks(service: EasemlProcess, version: str) -> dict[str, float]:
    """Return the processor seconds of the tasks about a version, by name."""
    tasks = service.call("GET", f"/api/v1/tasks?subject={version}&limit=50")["items"]
    used = Counter[str]()
    done = [task for task in tasks if task["state"] == "done"]
    for task in done:
        used[task["name"]] += float(task["result"].get("processor", 0.0))
    return dict(used)


def names_of_tasks(service: EasemlProcess, version: str) -> set[str]:
    """Return what was asked about a version, done or not."""
    tasks = service.call("GET", f"/api/v1/tasks?subject={version}&limit=50")["items"]
    return {task["name"] for task in tasks}


def cpu_of(process: int) -> float:
    """Return the processor seconds that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(service: EasemlProcess, folder: Path, rows: int, answers: int) -> dict[str, Any]:
    """Return what an answer takes, and what the same takes anew."""
    processes = service.call("GET", "/api/v1/status")["processes"]
    controller = next(one["pid"] for one in processes if one["kind"] == "controller")
    application = declared(service, folder, rows)
    with Client(service.url, service.key) as client:
        answered(client, application, 1, controller)  # loads what is loaded once
        followed = answered(client, application, answers, controller)
        check_survives(client, service, application)
        studied = client.application(application).version_id
        fresh = anew(client, service, application)
        asked_again = STUDY in names_of_tasks(service, client.application(application).version_id)
    study = cpu_of_tasks(service, studied).get(STUDY, 0.0)
    return {
        "rows": rows,
        "answers": answers,
        "followed": followed,
        "anew": fresh,
        "study": {"cpu": study, "held": not asked_again},
    }


def main() -> None:
    """Measure, and print how often an answer by a delta fits into one anew."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=17, help="at most 18: 20 make a version")
    options = read_options(parser, rows=300, answers=2)
    with tempfile.TemporaryDirectory() as folder:
        service = EasemlProcess(Path(folder) / "home")
        service.start()
        try:
            found = measured(service, Path(folder), options.rows, options.answers)
        finally:
            service.stop()
    followed, fresh = found["followed"], found["anew"]
    print(f"{machine_line('easeml', 'numpy')}, load {os.getloadavg()[0]:.1f}")
    print(f"{'':<12} {'seconds':>9} {'CPU':>9}")
    print(f"{'an answer':<12} {followed['seconds']:>8.3f}s {followed['cpu']:>8.3f}s")
    print(f"{'anew':<12} {fresh['seconds']:>8.3f}s {fresh['cpu']:>8.3f}s")
    for kind, cpu in fresh["tasks"].items():
        print(f"  {kind:<22} {cpu:>8.3f}s")
    seconds = fresh["seconds"] / followed["seconds"]
    used = fresh["cpu"] / max(followed["cpu"], 1e-3)
    print(f"{'times':<12} {seconds:>8.0f}  {used:>8.0f}")
    study = found["study"]
    held = "held" if study["held"] else "made anew"
    print(f"{'study':<12} {'':>9} {study['cpu']:>8.3f}s, {held} after the answers")
    (options.out / "answers.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
