"""Two owners of one application act at once while the scheduler is killed: nothing is lost, nothing
is done twice.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from easeml.client import Client
from easeml.contract.gates import NewGate, Retirement
from easeml.contract.production import Feedback
from easeml.errors import Conflict, NotReady
from easeml.service.gates import kept
from easeml.service.tasks import requests
from easeml.settings import Settings
from easeml.store import Store, Tables
from killing import check_books, declare
from service_process import EasemlProcess

pytestmark = [
    pytest.mark.faults,
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("faults"),
]
KILLS, TURNS = 4, 40
CONDITION = "n - o > -0.9 +/- 0.4"
PASSWORD = "correct horse battery"


class Owner:
    """Acts in turns, and remembers what was acknowledged."""

    def __init__(self, name: str, client: Client, application: str):
        self.name, self.client, self.application = name, client, application
        self.done: Counter[str] = Counter()
        self.told: list[str] = []

    def act(self, seed: int) -> None:
        """Do ``TURNS`` things in a random order; what is refused for a reason is left."""
        draw = random.Random(seed)
        ways: list[Callable[[int], None]] = [self.gate, self.tell, self.retire, self.pin]
        for turn in range(TURNS):
            way = draw.choice(ways)
            try:
                way(turn)
            except (Conflict, NotReady):
                self.done["refused"] += 1
            else:
                self.done[way.__name__] += 1
            time.sleep(draw.uniform(0.0, 0.3))  # people are not in step

    def gate(self, turn: int) -> None:
        wish = NewGate(condition=CONDITION, steps=1 + turn % 3, rows=10)
        self.client.set_gate(self.application, wish)

    def tell(self, turn: int) -> None:
        key = f"{self.name}-{turn}"
        answer = self.client.give_feedback(
            self.application, Feedback.model_validate([{"key": key, "value": "0"}])
        )
        assert answer.kept == 1
        self.told.append(key)

    def retire(self, turn: int) -> None:
        self.client.retire_test_rows(self.application, Retirement())

    def pin(self, turn: int) -> None:
        self.client.pin(self.application)
        self.client.unpin(self.application)


def test_two_owners_act_while_the_scheduler_is_killed(easeml: EasemlProcess, tmp_path: Path):
    models = ["baseline-classifier", "naive-bayes", "decision-tree-classifier", "logistic"]
    chosen = [option for model in models for option in ("--models", model)]
    application = declare(easeml, tmp_path, "shared", *chosen, "--max-tasks", "1")
    easeml.wait(application, "converged", 120)  # what serves is to be beaten
    with Client(easeml.url, easeml.key) as ann, Client(easeml.url) as ben:
        ann.create_user("ben", PASSWORD)
        ann.share_application(application, "ben", "owner")
        ben.login("ben", PASSWORD)
        ann.set_gate(application, NewGate(condition=CONDITION, steps=2, rows=10))
        easeml.command("job", "limit", ann.application(application).job.id, "--max-tasks", "14")
        owners = [Owner("ann", ann, application), Owner("ben", ben, application)]
        with ThreadPoolExecutor(len(owners)) as pool:
            acting = [pool.submit(owner.act, seed) for seed, owner in enumerate(owners)]
            for kill in range(KILLS):
                time.sleep(random.Random(kill).uniform(0.3, 1.5))  # the random moment
                easeml.kill("scheduler")
            for one in acting:
                one.result()
    easeml.wait(application, "converged", 240)
    _wait_for_quiet(easeml)
    check_books(easeml)
    store = Store.of(Settings(home=easeml.home))
    try:
        with store.read() as tx:
            _check(tx.unscoped(), application, owners)
    finally:
        store.close()


def _wait_for_quiet(easeml: EasemlProcess) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        states = {task["state"] for task in easeml.call("GET", "/api/v1/tasks?limit=200")["items"]}
        if states <= {"done", "failed", "cancelled"}:
            return
        time.sleep(0.5)
    raise AssertionError("tasks go on")


def _check(tables: Tables, application: str, owners: list[Owner]) -> None:
    """Hold the books against what the owners were told."""
    done = owners[0].done + owners[1].done
    told = Counter(one.key for one in tables.feedback.list(application_id=application, limit=None))
    assert told == Counter(owners[0].told + owners[1].told), "each truth once"

    found = tables.applications.get(application)
    versions = tables.versions.list(dataset_id=found.dataset_id, limit=None)
    retired = [one for one in versions if one.operation.name == "retire"]
    assert len(retired) == done["retire"], "each retirement once"
    assert all(one.state == "ready" for one in retired)

    gates = kept.of_application(tables, application)
    assert sum(not gate.ended for gate in gates) <= 1, "one gate at a time"
    tests = requests.of_kind(tables, kept.KIND, subject=application, state="done")
    tested = Counter(task.payload["gate_id"] for task in tests)
    for gate in gates:
        steps = kept.ledger_of(gate).history
        commits = {step.commit for step in steps}
        assert len(commits) == len(steps) <= tested[gate.id], "a step for each test, once"
    assert done["tell"] > 0
    assert done["gate"] > 0
